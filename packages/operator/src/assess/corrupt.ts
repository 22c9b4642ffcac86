import type { CorruptEtcd, EtcdVoter } from "../model/etcd.ts";

/** What is said where the wrong ones cannot be told from the right ones. */
export const NO_MAJORITY = "no majority of the voters is healthy and has the same data";

/** What is said where etcd names whoever differs from the leader. */
export const BY_LEADER =
  "corrupt-check-time has etcd name the members that differ from the leader, whose own data may be wrong. Find out whose data are right: no member is replaced before that";

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
