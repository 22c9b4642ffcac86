import {
  clusterRecordResource,
  controllerOf,
  talosControlPlaneResource,
  talosWorkerResource,
  type ClusterRecord,
  type TalosMachine,
} from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { mayHoldConfig } from "../../record/facts.ts";
import { readRecord } from "../../record/facts-codec.ts";

/**
 * True for a TalosMachine that goes and that nobody is left to released: the object that controlled it is gone, and no ClusterRecord of the namespace says that
 * its machine may hold a configuration and is to be wiped. One that is made late, by a call that was given up, comes after its cluster has ended. All of it is read live.
 *
 * @throws KubeApiError when nobody can say
 */
export async function isLeftAlone({ metadata, spec }: TalosMachine, client: KubeClient): Promise<boolean> {
  const { namespace, name } = metadata;
  const owner = controllerOf(metadata);
  const type = owner?.kind === "TalosWorker" ? talosWorkerResource : talosControlPlaneResource;
  // One made by hand belongs to whoever it refers to, when that comes.
  if (owner === undefined || (spec?.controlPlaneRef ?? spec?.workerRef) === undefined) return false;
  const there = await client.resource(type).tryGet({ namespace, name: owner.name });
  if (there?.metadata?.uid === owner.uid) return false;
  // Its machine was left running on purpose, and the record goes on knowing it.
  if (spec?.deletionPolicy === "preserve") return true;
  const { items } = await client.resource<ClusterRecord>(clusterRecordResource).list({ namespace });
  return items.every((record) => {
    const facts = readRecord(record)?.facts;
    return facts !== undefined && !facts.machines.some((fact) => fact.name === name && mayHoldConfig(fact));
  });
}
