import { loadAll } from "js-yaml";
import { kubernetesSchema } from "./kubernetes-schema.ts";

/** Anchors may be used this often in one text; a person never comes near it, an alias bomb does at once. */
const MAX_ALIASES = 50;

/** Values in one text once every alias is written out, unless the text itself is longer: a bomb of few aliases grows beyond any number. */
const MAX_VALUES = 200_000;

/** Text that is no YAML, or more of it than any document of Kubernetes. */
export class KubernetesYamlError extends Error {
  override readonly name = "KubernetesYamlError";
  /** From 1; `undefined` when it is not about one line. */
  readonly line: number | undefined;

  constructor(message: string, line?: number, options?: ErrorOptions) {
    super(message, options);
    this.line = line;
  }
}

/**
 * Reads all documents of a text as kubectl and kube-apiserver do. Safe for text of strangers: bounded in depth (100 levels), aliases (50) and values.
 *
 * @returns one value for each document; empty documents are `undefined` or `null`
 * @throws KubernetesYamlError that quotes nothing of the text, which may be secret
 */
export function parseKubernetesYaml(text: string): readonly unknown[] {
  let documents: unknown[];
  try {
    documents = loadAll(text, null, { schema: kubernetesSchema, maxAliases: MAX_ALIASES });
  } catch (thrown) {
    throw failureFrom(thrown);
  }
  // Without aliases a text holds no more values than characters.
  if (holdsMoreThan(documents, Math.max(MAX_VALUES, text.length)))
    throw new KubernetesYamlError(`its aliases make more than ${MAX_VALUES} values`);
  return documents;
}

function failureFrom(thrown: unknown): KubernetesYamlError {
  if (!(thrown instanceof Error)) return new KubernetesYamlError("it cannot be read");
  const reason = "reason" in thrown && typeof thrown.reason === "string" ? thrown.reason : "it cannot be read";
  const mark = "mark" in thrown ? (thrown.mark as { readonly line?: number } | null | undefined) : undefined;
  const line = mark?.line === undefined ? undefined : mark.line + 1;
  return new KubernetesYamlError(line === undefined ? reason : `line ${line}: ${reason}`, line);
}

/** Stops counting at the limit: what aliases share is counted as often as it is used. */
function holdsMoreThan(root: unknown, limit: number): boolean {
  const open: unknown[] = [root];
  let count = 0;
  for (let value = open.pop(); value !== undefined || open.length > 0; value = open.pop()) {
    count += 1;
    if (count + open.length > limit) return true;
    if (typeof value === "object" && value !== null) for (const child of Object.values(value)) open.push(child);
  }
  return false;
}
