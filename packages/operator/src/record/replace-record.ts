import type { ClusterRecord } from "@talos-operator/api";
import { isInvalid, KubeApiError } from "@talos-operator/kube-runtime";
import type { ResourceClient } from "@talos-operator/kube-runtime";
import { recordPatch } from "./record-patch.ts";

/**
 * Puts `after` in place of `before`, unless somebody wrote the record since `before` was read. Sends what differs, see {@link recordPatch}.
 *
 * @returns the record as it is stored then
 * @throws KubeApiError `CONFLICT` when the record changed meanwhile
 */
export async function replaceRecord(
  records: ResourceClient<ClusterRecord>,
  before: ClusterRecord,
  after: ClusterRecord,
): Promise<ClusterRecord> {
  const { namespace = "", name, resourceVersion } = before.metadata;
  try {
    return await records.patch({ namespace, name }, { type: "json", operations: recordPatch(before, after) });
  } catch (thrown) {
    if (!isInvalid(thrown)) throw thrown;
    // A version that is not there any more is answered as a patch that does not fit, and so is one that a rule forbids.
    const now = await records.get({ namespace, name });
    if (now.metadata.resourceVersion === resourceVersion) throw thrown;
    throw new KubeApiError("CONFLICT", { call: thrown.call, detail: "the record changed meanwhile", cause: thrown });
  }
}
