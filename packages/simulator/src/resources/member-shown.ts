import type { EtcdCluster } from "../etcd/model.ts";
import type { Machine } from "../node/machine.ts";

/**
 * The member that a machine shows as its own, or `undefined`: only while etcd runs and is healthy, which a learner is not, for it answers no questions.
 *
 * @param cluster the etcd that the machine's data belong to
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/controllers/etcd/member.go` MemberController
 */
export function memberShown({ etcd, services }: Machine, cluster: EtcdCluster | undefined): string | undefined {
  const service = services["etcd"];
  if (etcd.data === undefined || service?.state !== "Running" || service.isHealthy !== true) return undefined;
  const member = cluster?.members.find(({ id }) => id === etcd.data?.memberId);
  return member === undefined || member.isLearner ? undefined : member.id;
}
