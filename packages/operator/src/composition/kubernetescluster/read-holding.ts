import { clusterRecordResource, talosControlPlaneResource } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { isMadeAnew, onlyInstalled, signOfEarlierLife } from "../../observe/reported-machines.ts";
import { mayHoldConfig } from "../../record/facts.ts";
import { readRecord } from "../../record/facts-codec.ts";
import { installedPlace } from "./installed-on.ts";
import type { Seen } from "./model.ts";

/**
 * Names of TalosMachines that may hold a configuration, as the record says it now; `undefined` = nobody can say.
 *
 * That there is no record means that nothing was configured only where the control plane says nothing else: it may be lost. One that was made anew has to learn of
 * the machines that were installed: the brain writes them down, and takes them out.
 *
 * @throws KubeApiError when a read fails
 */
export async function readHolding({ cluster, model, machines }: Seen, client: KubeClient): Promise<ReadonlySet<string> | undefined> {
  if (model === undefined) return undefined;
  const key = { namespace: cluster.metadata.namespace, name: model.name };
  const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet(key);
  if (record === undefined) {
    const controlPlane = await client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet(key);
    return controlPlane !== undefined && signOfEarlierLife({ controlPlane }) !== undefined ? undefined : new Set();
  }
  const facts = readRecord(record)?.facts;
  if (facts === undefined) return undefined;
  const installed = machines.flatMap((machine) => installedPlace(model.name, machine) ?? []);
  const unreported = isMadeAnew(facts) ? onlyInstalled(installed, facts.machines) : [];
  return new Set([...facts.machines.filter(mayHoldConfig), ...unreported].map(({ name }) => name));
}
