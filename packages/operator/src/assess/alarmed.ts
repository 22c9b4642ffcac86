import type { EtcdDoubt, EtcdQuorum } from "../model/etcd.ts";
import type { SeenAlarm, SeenEtcd } from "../model/look.ts";

/** What an answering control plane tells of etcd. */
export interface TellingMember {
  readonly machine: string;
  readonly etcd: Pick<SeenEtcd, "alarms" | "raised" | "localMember" | "comparesWithLeader">;
}

/**
 * Whose etcd raises an alarm, and which. Pure. Every member tells the alarms of all: the machine is that of the member that an alarm names, as far as it answers, else
 * the first one that tells of it.
 */
export function alarmedMember(telling: readonly TellingMember[]): { readonly machine: string; readonly alarms: string } | undefined {
  const teller = telling.find(({ etcd }) => (etcd.alarms ?? []).length > 0);
  if (teller === undefined) return undefined;
  const ids = new Set((teller.etcd.raised ?? []).map(({ member }) => member));
  const named = telling.filter(({ etcd }) => etcd.localMember !== undefined && ids.has(etcd.localMember)).map(({ machine }) => machine);
  return { machine: named.length === 0 ? teller.machine : named.join(", "), alarms: alarmWords(teller.etcd) };
}

const WORDS: Readonly<Record<SeenAlarm["kind"], string>> = { "no-space": "NOSPACE", corrupt: "CORRUPT", unknown: "" };

/** Each alarm once, as etcd calls it; where one is not known, what etcd says. */
function alarmWords(etcd: TellingMember["etcd"]): string {
  const { alarms = [], raised = [] } = etcd;
  return [...new Set(areKnown(etcd) ? raised.map(({ kind }) => WORDS[kind]) : alarms)].join(", ");
}

/** Every alarm that the member reports is one that is known here. */
function areKnown({ alarms = [], raised = [] }: TellingMember["etcd"]): boolean {
  return alarms.length <= raised.length && raised.every(({ kind }) => kind !== "unknown");
}

/** Every alarm that anybody tells of, each once. */
export function raisedBy(telling: readonly Pick<TellingMember, "etcd">[]): readonly SeenAlarm[] {
  const all = telling.flatMap(({ etcd }) => etcd.raised ?? []);
  return [...new Map(all.map((alarm) => [`${alarm.member} ${alarm.kind}`, alarm])).values()];
}

/** All 0: the data of members differ, and no majority says whose are right. */
const NOBODY = /^0*$/;

/**
 * What is left of etcd beneath its alarms, for whoever cures them. Pure. Nothing where a member complains of what nobody knows, or data differ without a majority: no
 * member is the wrong one then. An alarm outlives its member; of one that etcd lists no more nothing is left to cure.
 */
export function beneathAlarms(
  telling: readonly Pick<TellingMember, "etcd">[],
  view: EtcdQuorum,
): Pick<EtcdDoubt, "beneath" | "corrupt" | "isOnlyFull"> {
  if (!telling.every(({ etcd }) => areKnown(etcd))) return {};
  const wrong = raisedBy(telling).flatMap(({ kind, member }) => (kind === "corrupt" ? [member] : []));
  if (wrong.some((id) => NOBODY.test(id))) return {};
  const members = wrong.filter((id) => view.members.some((member) => member.id === id));
  if (members.length === 0) return { beneath: view, isOnlyFull: wrong.length === 0 };
  const voters = view.voters.map((voter) => (members.includes(voter.id) ? { ...voter, isHealthy: false } : voter));
  const byLeader = telling.some(({ etcd }) => etcd.comparesWithLeader === true) ? { isByLeader: true as const } : {};
  return { corrupt: { members, view: { ...view, voters, healthy: voters.filter(({ isHealthy }) => isHealthy).length }, ...byLeader } };
}
