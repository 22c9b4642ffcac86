import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";

/**
 * The member that a machine shows as its own, or `undefined`: only while etcd runs and is healthy, which a learner is not, for it answers no questions.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/controllers/etcd/member.go` MemberController
 */
export function memberShown(world: World, cell: Cell): string | undefined {
  const { etcd, services } = cell.state;
  const service = services["etcd"];
  if (etcd.data === undefined || service?.state !== "Running" || service.isHealthy !== true) return undefined;
  const member = world.etcd.of(cell)?.members.find(({ id }) => id === etcd.data?.memberId);
  return member === undefined || member.isLearner ? undefined : member.id;
}
