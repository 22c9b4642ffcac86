import {
  clusterRecordResource,
  finalizers,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { deleteExactly, isControlledBy, removeFinalizer } from "@talos-operator/kube-runtime";
import { EffectError } from "../errors.ts";
import { heldBy } from "../procedures/compose/empty-pools.ts";
import { heldMachines } from "../procedures/compose/held-machines.ts";
import { readRecord } from "../record/facts-codec.ts";
import type { Effects } from "./ports.ts";

/**
 * Takes the finalizer off a pool that is deleted. Whether a machine is left is asked of the record as it is now, and objects that no list told of are looked for
 * by their names: they would keep their own finalizer, and nobody would be left to take it off.
 *
 * @throws EffectError `PRECONDITION_GONE` when a machine may hold the cluster's configuration
 */
export async function releasePool(name: string, effects: Effects): Promise<void> {
  const { client, seen, signal } = effects;
  const { namespace = "", name: cluster } = seen.controlPlane.metadata;
  const pools = client.resource<TalosWorker>(talosWorkerResource);
  const pool = await pools.tryGet({ namespace, name });
  if (pool === undefined) return;
  const [record, controlPlane] = await Promise.all([
    client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name: cluster }),
    client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet({ namespace, name: cluster }),
  ]);
  const facts = record === undefined ? "absent" : (readRecord(record)?.facts ?? "unknown");
  const known = heldBy(seen, pool);
  const held = heldMachines(pool, { ...known, controlPlane: controlPlane ?? seen.controlPlane, facts });
  if (held.length > 0) throw new EffectError("PRECONDITION_GONE", `machines of TalosWorker ${name} may be configured`);
  const machines = client.resource<TalosMachine>(talosMachineResource);
  await Promise.all(
    known.listed.map(async (machine) => {
      const unlisted = await machines.tryGet({ namespace, name: machine });
      if (unlisted === undefined || !isControlledBy(unlisted, pool)) return;
      await removeFinalizer(machines, unlisted, finalizers.talosMachine);
      await deleteExactly(machines, unlisted);
    }),
  );
  await removeFinalizer(pools, pool, finalizers.talosWorker, { signal });
}
