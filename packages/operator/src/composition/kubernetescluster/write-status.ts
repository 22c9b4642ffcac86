import { apiVersionOf, conditionCatalogue, isConditionTrue, kubernetesClusterResource, spelledOut } from "@talos-operator/api";
import type { ConditionInput, KubernetesCluster } from "@talos-operator/api";
import { keyText } from "@talos-operator/kube-runtime";
import type { Informer, KubeClient, ReconcileContext } from "@talos-operator/kube-runtime";
import { elapsedMs } from "../../elapsed.ts";
import { isUnderWay, pausedStatus } from "../../controllers/shared/kstatus.ts";
import type { ToldStatus } from "../../controllers/shared/kstatus.ts";
import { isOfAnother } from "../../controllers/shared/status-writer.ts";
import type { StatusWithConditions, TellTurns } from "../../controllers/shared/turns.ts";
import { FIELD_MANAGER } from "./apply-machines.ts";
import type { Seen } from "./model.ts";
import { stageOfPhase, statusAfter } from "./status.ts";
import type { WantedClusterStatus } from "./status.ts";
import { isUndeclaredField } from "./undeclared.ts";

/** While a cluster is made its status is written at most this often; what people wait for is written at once. Milliseconds. */
const STATUS_EVERY_MS = 2_000;

/** Writes the status of KubernetesClusters, when it says something new. */
export interface ClusterStatusWriter {
  /** @returns after how many milliseconds it may be written; `undefined` = it is written, or says nothing new */
  write(seen: Seen, wanted: WantedClusterStatus, context: ReconcileContext): Promise<number | undefined>;
  /** A paused cluster hears one word more; what was said of it stays. */
  writePaused(seen: Seen, paused: ConditionInput, context: ReconcileContext): Promise<number | undefined>;
  /** The cluster is gone. @param cluster `namespace/name` */
  forget(cluster: string): void;
}

function deletionOf(status: KubernetesCluster["status"]): string | undefined {
  return status?.conditions.find(({ type }) => type === "Deleting")?.reason;
}

/** @param tell told what turned in a status, once it is stored */
export function createClusterStatusWriter(client: KubeClient, clusters: Informer<KubernetesCluster>, tell: TellTurns): ClusterStatusWriter {
  const clusterClient = client.resource<KubernetesCluster>(kubernetesClusterResource);
  const written = new Map<string, number>();
  /** Somebody else's CRD declares the published fields alone. Found out by the first write; another CRD later needs another start. */
  let hasPublishedStatus = false;

  const write: ClusterStatusWriter["write"] = async (seen, wanted, context) => {
    const { cluster, now } = seen;
    const before = cluster.status;
    const after = statusAfter(before, seen, wanted, hasPublishedStatus);
    if (after === before) return undefined;
    const key = keyText(cluster.metadata);
    const isReady = (status: typeof before): boolean =>
      isConditionTrue(status?.conditions as Parameters<typeof isConditionTrue>[0], "Ready");
    const isNews =
      before?.phase !== after.phase ||
      isReady(before) !== isReady(after) ||
      before.observedGeneration !== after.observedGeneration ||
      isUnderWay(before as ToldStatus) !== isUnderWay(after as ToldStatus) ||
      // Once its control plane is gone nothing else tells that it was taken over while it went.
      deletionOf(before) !== deletionOf(after);
    const left = isNews ? 0 : STATUS_EVERY_MS - elapsedMs(written.get(key) ?? 0, now);
    if (left > 0) return left;
    const { namespace, name, uid } = cluster.metadata;
    const applied = {
      apiVersion: apiVersionOf(kubernetesClusterResource),
      kind: cluster.kind,
      // The cache may be behind, and another cluster of the name be there.
      metadata: { namespace, name, ...(uid === undefined ? {} : { uid }) },
      status: after,
    };
    try {
      context.wrote(clusters, await clusterClient.applyStatus(applied, { fieldManager: FIELD_MANAGER, force: true }));
    } catch (thrown) {
      if (isOfAnother(thrown)) return STATUS_EVERY_MS;
      if (hasPublishedStatus || !isUndeclaredField(thrown)) throw thrown;
      hasPublishedStatus = true;
      return write(seen, wanted, context);
    }
    written.set(key, now);
    tell(cluster, before as StatusWithConditions | undefined, after as StatusWithConditions);
    return undefined;
  };

  return {
    write,
    async writePaused(seen, paused, context) {
      const { status } = seen.cluster;
      const stored = (status?.conditions ?? []) as readonly ConditionInput[];
      const told = stored.map((condition) => spelledOut(stored, condition));
      const { conditions: wanted, drops = [] } = pausedStatus(
        { metadata: seen.cluster.metadata, status: status as ToldStatus | undefined },
        [paused],
      );
      const isTold = ({ type, reason, message }: ConditionInput): boolean =>
        told.some((one) => one.type === type && one.reason === reason && one.message === message);
      if (wanted.every(isTold)) return undefined;
      const types = new Set([...wanted.map(({ type }) => type), ...drops]);
      const conditions = [...told.filter(({ type }) => !types.has(type) && type in conditionCatalogue), ...wanted];
      return write(seen, { stage: stageOfPhase(status?.phase), message: paused.message, conditions, isPaused: true }, context);
    },
    forget: (cluster) => void written.delete(cluster),
  };
}
