import type { Assessment } from "../model/assessment.ts";
import type { MachineName } from "../model/machine.ts";

/** Who leads etcd. While nobody knows, the one that led last stays, as long as it is listed. */
export function etcdLeaderOf({ seen, etcdMembership: view, byName }: Assessment): MachineName | undefined {
  const leads = view.kind === "known" ? view.voters.find(({ id }) => id === view.leader)?.machine : seen.controlPlane.status?.etcdLeader;
  return leads !== undefined && byName.get(leads)?.isListed === true ? leads : undefined;
}
