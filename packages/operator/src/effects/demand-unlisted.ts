import { machineNameFor, reconcileModeOf, talosControlPlaneResource, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { EffectError } from "../errors.ts";
import { machineFact } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import type { Checks, Sending } from "./define.ts";

type Asked = Sending<{ readonly machine: MachineName }>;

/** The specs as they are stored now. What a cache does not show proves nothing; an empty answer least of all. */
const specsNow = async ({ action: { machine }, effects }: Asked) => {
  const { client, seen } = effects;
  const { namespace = "", name } = seen.controlPlane.metadata;
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
  const pools = (worker === undefined ? [controlPlane] : [controlPlane, worker]).filter((one) => one !== undefined);
  return { controlPlane, poolName, worker, poolBefore, object, pools };
};

/**
 * A person's wish stands that this machine leaves: its pool is there, is not being deleted, is reconciled, and does not list the machine. The specs are read
 * live.
 */
export const unlisted = {
  sameControlPlane: async (sending) => {
    const { controlPlane } = await sending.ask(specsNow);
    if (controlPlane === undefined || controlPlane.metadata.uid !== sending.effects.seen.controlPlane.metadata.uid)
      throw leftAlone(sending, "its TalosControlPlane is not there");
  },
  pool: async (sending) => {
    const { poolName, worker } = await sending.ask(specsNow);
    if (poolName !== undefined && worker === undefined) throw leftAlone(sending, "its TalosWorker is not there");
  },
  poolStays: async (sending) => {
    const going = (await sending.ask(specsNow)).pools.find((pool) => pool.metadata.deletionTimestamp !== undefined);
    if (going !== undefined) throw leftAlone(sending, `${going.kind} ${going.metadata.name} is being deleted`);
  },
  poolReconciled: async (sending) => {
    const paused = (await sending.ask(specsNow)).pools.find((pool) => reconcileModeOf(pool.metadata) !== "reconcile");
    if (paused !== undefined) throw leftAlone(sending, `${paused.kind} ${paused.metadata.name} is not reconciled`);
  },
  unlisted: async (sending) => {
    const listing = (await sending.ask(specsNow)).pools.find((pool) => namesIn(pool).includes(sending.action.machine));
    if (listing !== undefined) throw leftAlone(sending, `${listing.kind} ${listing.metadata.name} lists it`);
  },
  unlistedBefore: async (sending) => {
    const { poolBefore } = await sending.ask(specsNow);
    if (poolBefore !== undefined && namesIn(poolBefore).includes(sending.action.machine))
      throw leftAlone(sending, `TalosWorker ${poolBefore.metadata.name} lists it`);
  },
  poolOfCluster: async (sending) => {
    const { worker } = await sending.ask(specsNow);
    const { name } = sending.effects.seen.controlPlane.metadata;
    if (worker !== undefined && worker.spec?.controlPlaneRef?.name !== name)
      throw leftAlone(sending, "its TalosWorker belongs to another control plane");
  },
  notByHand: async (sending) => {
    const { object } = await sending.ask(specsNow);
    const isHandMade = object !== undefined && !(object.metadata.ownerReferences ?? []).some((reference) => reference.controller === true);
    if (isHandMade && object.metadata.deletionTimestamp === undefined)
      throw leftAlone(sending, "its TalosMachine was made by hand and is there");
  },
} as const satisfies Checks<Asked>;

/** A person's wish does not stand, or not any more. */
export function leftAlone({ action }: Asked, why: string): EffectError {
  return new EffectError("PRECONDITION_GONE", `${action.machine} is left alone: ${why}`);
}

/** Names of the machines that a pool lists, whether their references lead anywhere or not. */
export function namesIn(pool: TalosControlPlane | TalosWorker): readonly MachineName[] {
  return (pool.spec?.metalSpec?.machines ?? []).flatMap(({ address, machineRef }) => [
    ...(address === undefined ? [] : [machineNameFor(pool.metadata.name, { kind: "address", address })]),
    ...(machineRef?.name === undefined ? [] : [machineNameFor(pool.metadata.name, { kind: "machineRef", name: machineRef.name })]),
  ]);
}
