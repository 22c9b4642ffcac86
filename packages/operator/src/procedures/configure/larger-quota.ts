import { etcdQuotaBytes } from "@talos-operator/talos/client";
import type { Assessment } from "../../model/assessment.ts";
import type { KnownConfig, SeenConfig } from "../../model/config.ts";

/** Where its configuration has the quota of a control plane's etcd. */
const QUOTA_PATH = "cluster.etcd.extraArgs.quota-backend-bytes";

/** How large the file of its etcd may grow with the configuration that is wanted, where that is more than with the one in force. Bytes; `Infinity` = no limit. */
export function largerQuotaOf({ changes }: Pick<KnownConfig, "changes">): number | undefined {
  const change = changes.find(({ path }) => path === QUOTA_PATH);
  const [before, after] = [quotaOf(change?.before), quotaOf(change?.after)];
  return before !== undefined && after !== undefined && after > before ? after : undefined;
}

/** An argument is a text or a list, of which etcd takes the last one. */
function quotaOf(text: string | undefined): number | undefined {
  const last = text
    ?.split("\n")
    .at(-1)
    ?.replace(/^- /, "")
    .replace(/^(["'])(.*)\1$/, "$2");
  return etcdQuotaBytes(last === undefined ? {} : { "quota-backend-bytes": [last] });
}

/**
 * Its boot brings the larger quota that an etcd without space waits for: etcd reads its arguments when it starts. Files that are full are all that is in the way;
 * while data differ none comes up after a boot.
 */
export function bootsForSpace({ etcdMembership: view }: Pick<Assessment, "etcdMembership">, config: SeenConfig | undefined): boolean {
  const isFull = view.kind === "unsafe" && view.isOnlyFull === true;
  return isFull && config?.kind === "known" && largerQuotaOf(config) !== undefined;
}

/** What a boot is asked for with: beneath an alarm only one for space goes on. */
export function forSpace(assessed: Assessment, config: SeenConfig | undefined): { readonly isForSpace?: true } {
  return bootsForSpace(assessed, config) ? { isForSpace: true } : {};
}

/** Who waits for the boot that brings its larger quota, and what is in the way, without a full stop; `undefined` = nobody. */
export function largerQuotaAwaited(assessed: Assessment): string | undefined {
  const next = assessed.machines.find(({ declared, config }) => declared.role === "controlplane" && bootsForSpace(assessed, config));
  if (next === undefined) return undefined;
  const { name } = next.declared;
  const why = assessed.rollout?.waiting.get(name);
  return `the larger quota of the settings takes a boot of every control plane, one after the other, and ${name} waits for its own${why === undefined ? "" : `: ${why}`}`;
}
