import { reconcileModeOf, talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { EffectError } from "../../../errors.ts";
import type { MachineName } from "../../../model/machine.ts";
import type { Effects } from "./ports.ts";

/**
 * Reads the pool of this machine live and fails unless a person's wish stands that its machines are wiped with it: it is the object that was seen, it is being
 * deleted, and neither its deletionPolicy nor a pause says otherwise by now. A cache may be behind, and a wipe is not taken back.
 *
 * @throws EffectError `PRECONDITION_GONE`
 */
export async function demandDeleted(machine: MachineName, { client, seen }: Effects): Promise<void> {
  const gone = (why: string): EffectError => new EffectError("PRECONDITION_GONE", `${machine} is left alone: ${why}`);
  const owner = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === machine)?.declared.owner;
  if (owner === undefined) throw gone("nobody knows its pool");
  const { namespace = "" } = seen.controlPlane.metadata;
  const pool = owner.kind === "TalosWorker" ? seen.workers.find(({ metadata }) => metadata.name === owner.name) : seen.controlPlane;
  const type = owner.kind === "TalosWorker" ? talosWorkerResource : talosControlPlaneResource;
  const live = await client.resource<TalosControlPlane | TalosWorker>(type).tryGet({ namespace, name: owner.name });
  const what = `${owner.kind} ${owner.name}`;
  if (live === undefined || live.metadata.uid !== pool?.metadata.uid) throw gone(`its ${what} is not there`);
  if (live.metadata.deletionTimestamp === undefined) throw gone(`${what} is not being deleted`);
  if (live.spec?.deletionPolicy === "preserve") throw gone(`deletionPolicy of ${what} is preserve`);
  const mode = reconcileModeOf(live.metadata);
  if (mode === "disable" || mode === "dryrun") throw gone(`${what} says ${mode}`);
}
