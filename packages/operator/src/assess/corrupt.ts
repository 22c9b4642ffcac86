import type { CorruptEtcd, EtcdVoter } from "../model/etcd.ts";

/** What is said where the wrong ones cannot be told from the right ones. */
export const NO_MAJORITY = "no majority of the voters is healthy and has the same data";

/** What is said where etcd names whoever differs from the leader. */
export const BY_LEADER =
  "corrupt-check-time has etcd name whoever differs from the leader, which may be the wrong one itself, so no member is replaced before a person has found out whose data are right";

/** Of fewer than a majority nobody knows that they are right; so one of two voters is never replaced. */
export function isMinority({ view, isByLeader }: CorruptEtcd): boolean {
  return isByLeader !== true && view.healthy >= view.needed;
}

/** The next to be replaced: by the list, the leader last. */
export function nextOf({ view, members }: CorruptEtcd): EtcdVoter | undefined {
  return view.voters
    .filter(({ id }) => members.includes(id))
    .toSorted((a, b) => Number(a.id === view.leader) - Number(b.id === view.leader))[0];
}
