import { printMemberId } from "./etcd-member-id.ts";
import type { EtcdMemberId } from "./etcd-member-id.ts";

/**
 * An alarm that a member has raised. `no-space`: the quota is used up; `corrupt`: its data differ from the others'. Alarms belong to the cluster: every member
 * knows all of them, and one outlives the member that it names.
 */
export interface EtcdAlarmFacts {
  /** All 0: raised of nobody in particular, because no majority of the members has the same data. */
  readonly memberId: EtcdMemberId;
  readonly alarm: "no-space" | "corrupt" | "none" | "unknown";
}

const MOST_ID = 0xffff_ffff_ffff_ffffn;
const ALARMS: Readonly<Partial<Record<string, EtcdAlarmFacts["alarm"]>>> = { NOSPACE: "no-space", CORRUPT: "corrupt" };

/**
 * The alarm that a line of `EtcdStatus.errors` tells: `memberID:10627508175174891110 alarm:CORRUPT `, as Go prints etcd's AlarmMember. The id is decimal, and left out
 * where it is 0. How many blanks there are is up to the printer, and from etcd 3.7 on to how it was built.
 *
 * @returns `undefined` for another complaint, such as `etcdserver: no leader`
 * @see etcd v3.6.14 and v3.7.1 `server/etcdserver/api/v3rpc/maintenance.go` Status
 */
export function alarmToldBy(error: string): EtcdAlarmFacts | undefined {
  const [, id = "0", name] = /^\s*(?:memberID:(\d{1,20})\s+)?alarm:(\w{1,32})\s*$/.exec(error) ?? [];
  if (name === undefined || BigInt(id) > MOST_ID) return undefined;
  return { memberId: printMemberId(BigInt(id)), alarm: ALARMS[name] ?? "unknown" };
}
