import { clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import { codeOf } from "../observe/fresh-copies.ts";
import type { Seen } from "../model/observation.ts";

/**
 * Another cluster whose record has these keys, in any namespace, as messages of this one may name it: two clusters never share them.
 *
 * @param notAfter only one that was there by then, as Kubernetes writes times; absent = whenever
 */
export async function whoElseHasKeys(clusterId: string, own: ObjectKey, client: KubeClient, notAfter?: string): Promise<Seen<string>> {
  let records: readonly ClusterRecord[];
  try {
    records = (await client.resource<ClusterRecord>(clusterRecordResource).list({})).items;
  } catch (thrown) {
    return { kind: "unknown", detail: codeOf(thrown) };
  }
  const other = records.find(
    ({ spec, metadata }) =>
      (metadata.namespace !== own.namespace || metadata.name !== own.name) &&
      spec.clusterId === clusterId &&
      (notAfter === undefined || (metadata.creationTimestamp ?? "") <= notAfter),
  );
  if (other === undefined) return { kind: "absent" };
  const { namespace = "", name } = other.metadata;
  // Readers of this namespace may have no right to read others.
  return { kind: "present", value: namespace === own.namespace ? `the cluster ${namespace}/${name}` : "a cluster in another namespace" };
}
