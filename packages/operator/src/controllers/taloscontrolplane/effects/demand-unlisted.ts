import { machineNameFor, reconcileModeOf, talosControlPlaneResource, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { EffectError } from "../../../errors.ts";
import { machineFact } from "../record/facts.ts";
import type { MachineName } from "../../../model/machine.ts";
import type { Effects } from "./ports.ts";

/**
 * Reads the specs live and fails unless a person's wish stands that this machine leaves: its pool is there, is not being deleted, is reconciled, and does not
 * list the machine. What a cache does not show proves nothing; an empty answer least of all.
 *
 * @throws EffectError `PRECONDITION_GONE`
 */
export async function demandUnlisted(machine: MachineName, effects: Effects): Promise<void> {
  const { client, seen } = effects;
  const { namespace = "", name, uid } = seen.controlPlane.metadata;
  const leaver = seen.former.find(({ declared }) => declared.name === machine)?.declared;
  const poolName = leaver?.owner.kind === "TalosWorker" ? leaver.owner.name : undefined;
  // Whose a worker is stands in its TalosMachine, which people can edit; the record knows whose it was.
  const recorded = machineFact(effects.facts(), machine)?.pool;
  const pool = async (of: string | undefined): Promise<TalosWorker | undefined> =>
    of === undefined ? undefined : client.resource<TalosWorker>(talosWorkerResource).tryGet({ namespace, name: of });
  const [controlPlane, worker, poolBefore, object] = await Promise.all([
    client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet({ namespace, name }),
    pool(poolName),
    recorded === poolName ? undefined : pool(recorded),
    client.resource<TalosMachine>(talosMachineResource).tryGet({ namespace, name: machine }),
  ]);
  const gone = (why: string): EffectError => new EffectError("PRECONDITION_GONE", `${machine} is left alone: ${why}`);
  if (controlPlane === undefined || controlPlane.metadata.uid !== uid) throw gone("its TalosControlPlane is not there");
  if (poolName !== undefined && worker === undefined) throw gone("its TalosWorker is not there");
  for (const pool of worker === undefined ? [controlPlane] : [controlPlane, worker]) {
    if (pool.metadata.deletionTimestamp !== undefined) throw gone(`${pool.kind} ${pool.metadata.name} is being deleted`);
    if (reconcileModeOf(pool.metadata) !== "reconcile") throw gone(`${pool.kind} ${pool.metadata.name} is not reconciled`);
    if (namesIn(pool).includes(machine)) throw gone(`${pool.kind} ${pool.metadata.name} lists it`);
  }
  if (poolBefore !== undefined && namesIn(poolBefore).includes(machine)) throw gone(`TalosWorker ${poolBefore.metadata.name} lists it`);
  if (worker !== undefined && worker.spec?.controlPlaneRef?.name !== name) throw gone("its TalosWorker belongs to another control plane");
  const isHandMade = object !== undefined && !(object.metadata.ownerReferences ?? []).some((reference) => reference.controller === true);
  if (isHandMade && object.metadata.deletionTimestamp === undefined) throw gone("its TalosMachine was made by hand and is there");
}

/** Names of the machines that a pool lists, whether their references lead anywhere or not. */
function namesIn(pool: TalosControlPlane | TalosWorker): readonly MachineName[] {
  return (pool.spec?.metalSpec?.machines ?? []).flatMap(({ address, machineRef }) => [
    ...(address === undefined ? [] : [machineNameFor(pool.metadata.name, { kind: "address", address })]),
    ...(machineRef?.name === undefined ? [] : [machineNameFor(pool.metadata.name, { kind: "machineRef", name: machineRef.name })]),
  ]);
}
