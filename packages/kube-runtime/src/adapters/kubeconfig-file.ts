import { dirname, isAbsolute, join } from "node:path";
import { load, YAMLException } from "js-yaml";
import { isRecord } from "../client/error-of-response.ts";
import { KubeApiError } from "../client/kube-api-error.ts";

/** One or several kubeconfig files, merged: of entries with the same name the first wins. */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Fields>;
  readonly clusters: ReadonlyMap<string, Fields>;
  readonly users: ReadonlyMap<string, Fields>;
}

/** Fields of one entry as they stand in the file. */
export type Fields = Readonly<Record<string, unknown>>;

const fileFields = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

/**
 * Reads one kubeconfig text. Relative file names become absolute against `folder`.
 *
 * @throws KubeApiError `KUBECONFIG_INVALID`; the text itself is never quoted
 */
export function parseKubeconfig(text: string, source: string, folder: string): Kubeconfig {
  let document: unknown;
  try {
    document = load(text, { maxAliases: 100 });
  } catch (thrown) {
    const line = thrown instanceof YAMLException && thrown.mark !== undefined ? ` (line ${thrown.mark.line + 1})` : "";
    // Without the cause: the parser quotes the text around the fault, which may be a key.
    throw invalidKubeconfig(source, `it is not YAML${line}`);
  }
  if (!isRecord(document)) throw invalidKubeconfig(source, "it is not a mapping with clusters, users and contexts");
  const current = document["current-context"];
  return {
    currentContext: typeof current === "string" && current !== "" ? current : undefined,
    contexts: named(document, "contexts", "context", source, folder),
    clusters: named(document, "clusters", "cluster", source, folder),
    users: named(document, "users", "user", source, folder),
  };
}

/** Joins files in their order. */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const join = (part: "contexts" | "clusters" | "users"): ReadonlyMap<string, Fields> =>
    new Map(files.toReversed().flatMap((file) => [...file[part]]));
  return {
    currentContext: files.find((file) => file.currentContext !== undefined)?.currentContext,
    contexts: join("contexts"),
    clusters: join("clusters"),
    users: join("users"),
  };
}

/** The error for a kubeconfig that cannot be used. */
export function invalidKubeconfig(source: string, detail: string): KubeApiError {
  return new KubeApiError("KUBECONFIG_INVALID", { call: `read kubeconfig ${source}`, detail });
}

/** Folder against which relative names in a file count. */
export function folderOf(path: string): string {
  return dirname(path);
}

function named(document: Fields, list: string, entry: string, source: string, folder: string): Map<string, Fields> {
  const items = document[list] ?? [];
  if (!Array.isArray(items)) throw invalidKubeconfig(source, `${list} is not a list`);
  const found = new Map<string, Fields>();
  for (const item of items) {
    const name: unknown = isRecord(item) ? item["name"] : undefined;
    if (!isRecord(item) || typeof name !== "string") throw invalidKubeconfig(source, `an entry of ${list} has no name`);
    const fields = item[entry] ?? {};
    if (!isRecord(fields)) throw invalidKubeconfig(source, `${list} entry "${name}" has no mapping "${entry}"`);
    if (!found.has(name)) found.set(name, withAbsoluteFiles(fields, folder));
  }
  return found;
}

function withAbsoluteFiles(fields: Fields, folder: string): Fields {
  const changed = { ...fields };
  for (const field of fileFields) {
    const value = changed[field];
    if (typeof value === "string" && value !== "" && !isAbsolute(value)) changed[field] = join(folder, value);
  }
  return changed;
}
