import { writeEtcdSnapshot } from "@talos-operator/etcd-snapshot";
import type { SnapshotKey } from "@talos-operator/etcd-snapshot";
import { isAtLeastRelease } from "../node/version.ts";
import { memberNumber } from "./model.ts";
import type { EtcdCluster } from "./model.ts";

/** What a simulated etcd holds at one moment. */
export interface EtcdContents {
  /** Of the last write, also of one whose key is gone by now. */
  readonly revision: number;
  readonly keys: readonly EtcdKey[];
}

export interface EtcdKey {
  /** `/registry/minions/one` */
  readonly key: string;
  readonly value: string;
  /** Of the last write of this key. */
  readonly revision: number;
}

/** etcd's own first revision is 1, and the first write makes 2. */
const firstWrite = 2;

/**
 * The bytes that this etcd streams as a snapshot: a genuine database with its trailer. Equal input gives equal bytes.
 *
 * @param etcdVersion of the member that is asked: 3.6 and newer write their storage version into the database
 */
export function databaseOf(cluster: EtcdCluster, contents: EtcdContents, etcdVersion: string): Uint8Array {
  const minor = `${etcdVersion.split(".").slice(0, 2).join(".")}.0`;
  return writeEtcdSnapshot({
    keys: contents.keys.map(({ key, value, revision }): SnapshotKey => ({ key, value, modRevision: Math.max(firstWrite, revision) })),
    revision: Math.max(contents.keys.length === 0 ? 1 : firstWrite, contents.revision),
    members: cluster.members.map((member) => ({
      id: memberNumber(member.id),
      name: member.name,
      peerURLs: [member.peerUrl],
      clientURLs: member.isStarted ? [member.clientUrl] : [],
      isLearner: member.isLearner,
    })),
    removedMembers: cluster.removedIds.map(memberNumber),
    ...(isAtLeastRelease(etcdVersion, "3.6.0") ? { storageVersion: minor } : {}),
    clusterVersion: minor,
    term: cluster.term,
    consistentIndex: cluster.raftIndex,
  });
}

/**
 * What an etcd holds behind which nobody keeps objects: namespaces, and the lease of a controller manager that is renewed every ten seconds.
 *
 * @param now milliseconds since the epoch
 */
export function ownContents(cluster: EtcdCluster, now: number): EtcdContents {
  const renewals = Math.floor(now / 10_000);
  const revision = firstWrite + cluster.raftIndex + renewals;
  const renewTime = new Date(renewals * 10_000).toISOString().replace(/Z$/, "000Z");
  const object = (apiVersion: string, kind: string, metadata: object, rest: object = {}): string =>
    JSON.stringify({ kind, apiVersion, metadata, ...rest });
  return {
    revision,
    keys: [
      ...["default", "kube-system"].map((name, index) => ({
        key: `/registry/namespaces/${name}`,
        value: object("v1", "Namespace", { name }),
        revision: firstWrite + index,
      })),
      {
        key: "/registry/leases/kube-system/kube-controller-manager",
        value: object(
          "coordination.k8s.io/v1",
          "Lease",
          { name: "kube-controller-manager", namespace: "kube-system" },
          { spec: { renewTime } },
        ),
        revision,
      },
    ],
  };
}
