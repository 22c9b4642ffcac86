import { builtInCatalogue, tryParseVersion } from "@talos-operator/talos";
import type { Assessment } from "../../model/assessment.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/**
 * Why a machine must not go back to the Talos of before, without a full stop; `undefined` = it may. A newer etcd has raised the version of its data only when every
 * member runs it: with one that still runs the older etcd the data is the older one's, and a single member has raised it by itself.
 */
export function mayRollBack({ machines }: Assessment, { machine, role, talosVersion, talosBefore }: UpgradeIntent): string | undefined {
  if (role === "worker") return undefined;
  const [before, now] = [etcdOf(talosBefore), etcdOf(talosVersion)];
  if (before === undefined || now === undefined) return "nothing is known of the etcd of these versions";
  if (now <= before) return undefined;
  const isOlder = machines.some(
    ({ declared, look }) =>
      declared.role === "controlplane" &&
      declared.name !== machine &&
      look.kind === "running" &&
      look.version !== undefined &&
      (etcdOf(look.version) ?? now) < now &&
      look.etcd?.isHealthy === true,
  );
  return isOlder ? undefined : `no other member of etcd runs 3.${before} any more, which does not read what 3.${now} has written`;
}

/** Minor of etcd 3. */
function etcdOf(version: string): number | undefined {
  const parsed = tryParseVersion(version);
  return parsed?.major === 1 ? builtInCatalogue.talos.get(parsed.minor)?.etcd : undefined;
}
