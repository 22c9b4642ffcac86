import { annotations } from "@talos-operator/api";
import { etcdQuotaBytes } from "@talos-operator/talos/client";
import { hasRoom, inMib } from "../care/files.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { SeenMachine } from "../../model/observation.ts";

/** Where its configuration has the quota of a control plane's etcd. */
const QUOTA_PATH = "cluster.etcd.extraArgs.quota-backend-bytes";

/** What the file of an etcd may grow to with the configuration in force, and with the one that is wanted. Bytes; `Infinity` = no limit. */
export interface QuotaChange {
  readonly before: number;
  readonly after: number;
}

/** How the wanted configuration changes the quota; `undefined` = not at all, or nobody can read one of the two. */
export function quotaChangeOf({ changes }: Pick<KnownConfig, "changes">): QuotaChange | undefined {
  const change = changes.find(({ path }) => path === QUOTA_PATH);
  if (change === undefined) return undefined;
  const [before, after] = [quotaOf(change.before), quotaOf(change.after)];
  return before === undefined || after === undefined ? undefined : { before, after };
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
 * Why a control plane does not get the smaller quota that is asked for: its file has no room in it, and etcd would raise NOSPACE as soon as it starts with it. Without a
 * full stop; `undefined` = it has room, or is not smaller.
 */
export function whyTooSmall({ declared, look }: SeenMachine, config: Pick<KnownConfig, "changes">): string | undefined {
  const change = quotaChangeOf(config);
  const { dbSizeBytes, dbInUseBytes } = (look.kind === "running" ? look.etcd : undefined) ?? {};
  // A member that does not report its file is down, and may be so for want of these settings.
  if (change === undefined || change.after >= change.before || dbSizeBytes === undefined || hasRoom(dbSizeBytes, change.after))
    return undefined;
  const { name } = declared;
  const isFree = hasRoom(dbInUseBytes, change.after);
  return (
    `etcd would be full: in the quota of ${inMib(change.after)} that is asked for (${QUOTA_PATH}) its file of ${inMib(dbSizeBytes)} has no room` +
    (isFree
      ? `; ask for a larger one, or have it defragmented first, ${annotations.defragment}: ${name} on the TalosControlPlane`
      : "; ask for a larger one")
  );
}
