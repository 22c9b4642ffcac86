import { annotations, clusterRecordResource, talosControlPlaneResource, vitistackMachineResource } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, VitistackMachine } from "@talos-operator/api";
import { removeFinalizer } from "@talos-operator/kube-runtime";
import type { KubeClient, ReconcileContext } from "@talos-operator/kube-runtime";
import { deleteOwned } from "../../controllers/shared/delete-owned.ts";
import { wordFor } from "../../assess/identity.ts";
import { machineFact } from "../../record/facts.ts";
import { readRecord } from "../../record/facts-codec.ts";
import { FIELD_MANAGER } from "./apply-machines.ts";
import { compositionFinalizers } from "./keys.ts";
import type { Seen } from "./model.ts";
import type { CompositionCaches } from "./observe.ts";

/** What letting Machines go needs. */
export interface LetGoPorts extends Pick<CompositionCaches, "vitistackMachines" | "controlPlanes"> {
  readonly client: KubeClient;
}

/** Deletes a Machine that the cluster has released, and stops holding it: its provider finishes with it. */
export async function release(machine: VitistackMachine, owner: string, ports: LetGoPorts, context: ReconcileContext): Promise<void> {
  const machineClient = ports.client.resource<VitistackMachine>(vitistackMachineResource);
  const { namespace, name, deletionTimestamp } = machine.metadata;
  if (deletionTimestamp === undefined && !(await deleteOwned(machineClient, machine, owner))) return;
  const current = await machineClient.tryGet({ namespace, name });
  if (current?.metadata.uid !== machine.metadata.uid || current === undefined) return;
  context.wrote(ports.vitistackMachines, await removeFinalizer(machineClient, current, compositionFinalizers.machineInUse));
}

/** What a person would say of a machine that is no more; it acts once, on the machine it names. */
export async function abandon(name: string, { controlPlane }: Seen, ports: LetGoPorts, context: ReconcileContext): Promise<void> {
  const { client, controlPlanes } = ports;
  if (controlPlane === undefined || controlPlane.metadata.annotations?.[annotations.abandonMachine] !== undefined) return;
  const { namespace, name: cluster, uid, resourceVersion } = controlPlane.metadata;
  const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name: cluster });
  const facts = record === undefined ? undefined : readRecord(record)?.facts;
  if (facts === undefined || machineFact(facts, name)?.releasedAt !== undefined) return;
  const word = wordFor(facts, name, undefined);
  const value = { metadata: { uid, resourceVersion, annotations: { [annotations.abandonMachine]: word } } };
  context.log.info({ machine: name, action: "Abandon" }, "Its provider destroyed it: it is released without a wipe");
  const key = { namespace, name: cluster };
  context.wrote(
    controlPlanes,
    await client
      .resource<TalosControlPlane>(talosControlPlaneResource)
      .patch(key, { type: "merge", value }, { fieldManager: FIELD_MANAGER }),
  );
}
