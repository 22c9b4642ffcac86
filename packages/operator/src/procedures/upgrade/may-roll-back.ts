import { builtInCatalogue, tryParseVersion } from "@talos-operator/talos";
import type { SeenMachine } from "../../model/observation.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** Who goes back, and between which Talos. */
type Way = Pick<UpgradeIntent, "machine" | "role" | "talosVersion" | "talosBefore">;

/**
 * Why a machine must not go back to the Talos of before, without a full stop; `undefined` = it may.
 *
 * etcd raises the version of its data once every member has told that it runs the newer one, and never while one is away: what the other members tell decides, and
 * whether they may raise it at any moment. Where none tells, the Talos that they run: with one that runs the older etcd nothing was raised.
 *
 * @see etcd v3.6.14 `server/etcdserver/version/monitor.go` decideClusterVersion, membersMinimalServerVersion, UpdateStorageVersionIfNeeded
 */
export function mayRollBack(machines: readonly Pick<SeenMachine, "declared" | "look">[], way: Way): string | undefined {
  if (way.role === "worker") return undefined;
  const [before, now] = [etcdOf(way.talosBefore), etcdOf(way.talosVersion)];
  if (before === undefined || now === undefined) return "nothing is known of the etcd of these versions";
  if (now <= before) return undefined;
  const others = machines.flatMap(({ declared, look }) =>
    declared.role === "controlplane" && declared.name !== way.machine && look.kind === "running" && look.etcd?.isHealthy === true
      ? [{ version: look.version, data: tryParseVersion(look.etcd.storage ?? "")?.minor }]
      : [],
  );
  const told = others.flatMap(({ data }) => data ?? []);
  const data = Math.max(...told);
  if (data > before) return `the data of etcd are those of 3.${data}, which 3.${before} does not read`;
  if (others.some(({ version }) => version !== undefined && (etcdOf(version) ?? now) < now)) return undefined;
  const own = machines.find(({ declared }) => declared.name === way.machine)?.look;
  const isStopped = own?.kind === "running" && own.etcd?.service !== undefined && own.etcd.service !== "Running";
  if (told.length > 0 && isStopped) return undefined;
  return `no other member of etcd runs 3.${before} any more, which does not read what 3.${now} has written`;
}

/** Minor of etcd 3. */
function etcdOf(version: string): number | undefined {
  const parsed = tryParseVersion(version);
  return parsed?.major === 1 ? builtInCatalogue.talos.get(parsed.minor)?.etcd : undefined;
}
