import { quote } from "@talos-operator/api";
import type { ReadyReason } from "@talos-operator/api";
import { isForbidden } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";
import { isConfigError } from "@talos-operator/talos";
import { readConfigBase } from "../config/config-base.ts";
import { elapsedMs } from "../elapsed.ts";
import type { ConfigBase } from "../model/machine.ts";

/** One key of a ConfigMap in the namespace of the object that refers. */
export interface ConfigReference {
  readonly name?: string | undefined;
  readonly key: string;
  readonly optional?: boolean | undefined;
}

/** What a reference to a whole machine config gave. */
export type ResolvedConfig =
  /** It refers to nothing, or to a key that may be absent and is. */
  | { readonly kind: "none" }
  | { readonly kind: "base"; readonly base: ConfigBase }
  | { readonly kind: "problem"; readonly reason: ReadyReason; readonly message: string; readonly remedy: string };

/** Reads whole machine configs that people wrote, by name; nothing is listed or watched. */
export interface ConfigReferences {
  /** Never throws: what went wrong is what the reference gave. */
  resolve(reference: ConfigReference | undefined, namespace: string): Promise<ResolvedConfig>;
}

/** How long an answer counts. A settled cluster looks every 30 to 45 s, and so notices a change within a minute. */
const FRESH_MS = 20_000;

/** A config that was read stands in for one that cannot be read just now, for so long. */
const KEPT_MS = 300_000;

/** An API server takes no larger ConfigMap. */
const MAX_CHARACTERS = 1024 * 1024;

/** Texts that are kept. */
const MAX_KEPT = 2_000;

const configMapType: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Known {
  readonly at: number;
  readonly resourceVersion: string | undefined;
  readonly resolved: ResolvedConfig;
}

export function createConfigReferences(client: KubeClient, clock: Clock): ConfigReferences {
  const known = new Map<string, Known>();
  const configMaps = client.resource<ConfigMap>(configMapType);

  const read = async (
    reference: ConfigReference & { readonly name: string },
    namespace: string,
    before: Known | undefined,
  ): Promise<Known> => {
    const at = clock.now();
    const { name, key, optional } = reference;
    const source = `ConfigMap ${name}, key ${key}`;
    const gave = (resolved: ResolvedConfig, resourceVersion?: string): Known => ({ at, resourceVersion, resolved });
    const absent = (message: string, remedy: string): Known =>
      gave(optional === true ? { kind: "none" } : { kind: "problem", reason: "ReferenceNotFound", message, remedy });
    try {
      const object = await configMaps.tryGet({ namespace, name });
      if (object === undefined)
        return absent(`ConfigMap ${name} does not exist in namespace ${namespace}`, "Create it, or remove configRef");
      const text = object.data?.[key];
      if (text === undefined) return absent(`ConfigMap ${name} has no key ${quote(key)}`, "Add it, or correct configRef.key");
      const resourceVersion = object.metadata?.resourceVersion;
      if (before?.resourceVersion !== undefined && before.resourceVersion === resourceVersion) return { ...before, at };
      return gave(parsed(text, source), resourceVersion);
    } catch (thrown) {
      if (isForbidden(thrown))
        return gave({
          kind: "problem",
          reason: "ReferenceForbidden",
          message: `the operator may not read ConfigMap ${name}`,
          remedy: "Grant its service account get on configmaps in this namespace",
        });
      if (before?.resolved.kind === "base" && elapsedMs(before.at, at) < KEPT_MS) return before;
      const code = thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "no answer";
      const problem = {
        kind: "problem",
        reason: "ReferenceUnread",
        message: `ConfigMap ${name} could not be read (${code})`,
        remedy: "Retrying",
      };
      return gave(problem as ResolvedConfig);
    }
  };

  return {
    async resolve(reference, namespace) {
      const name = reference?.name ?? "";
      if (reference === undefined || name === "") return { kind: "none" };
      const id = JSON.stringify([namespace, name, reference.key, reference.optional === true]);
      const before = known.get(id);
      if (before !== undefined && elapsedMs(before.at, clock.now()) < FRESH_MS) return before.resolved;
      const now = await read({ ...reference, name }, namespace, before);
      known.delete(id);
      known.set(id, now);
      const [oldest] = known.keys();
      if (known.size > MAX_KEPT && oldest !== undefined) known.delete(oldest);
      return now.resolved;
    },
  };
}

function parsed(text: string, source: string): ResolvedConfig {
  const wrong = (message: string): ResolvedConfig => ({ kind: "problem", reason: "InvalidConfig", message, remedy: `Correct ${source}` });
  if (text.length > MAX_CHARACTERS) return wrong(`${source} is larger than 1 MiB`);
  try {
    return { kind: "base", base: readConfigBase(text, source) };
  } catch (thrown) {
    // The reader's words may quote the text, and the text may hold keys.
    if (isConfigError(thrown))
      return wrong(`${source} is no machine config (${thrown.code}${thrown.path === undefined ? "" : ` at ${thrown.path}`})`);
    throw thrown;
  }
}
