import type { SeenAlarm, SeenEtcd } from "../model/look.ts";

/** What an answering control plane tells of etcd. */
export interface TellingMember {
  readonly machine: string;
  readonly etcd: Pick<SeenEtcd, "alarms" | "raised" | "localMember">;
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
  return { machine: named.length === 0 ? teller.machine : named.join(", "), alarms: (teller.etcd.alarms ?? []).join(", ") };
}

/** Every alarm that anybody tells of, each once. */
export function raisedBy(telling: readonly Pick<TellingMember, "etcd">[]): readonly SeenAlarm[] {
  const all = telling.flatMap(({ etcd }) => etcd.raised ?? []);
  return [...new Map(all.map((alarm) => [`${alarm.member} ${alarm.kind}`, alarm])).values()];
}

/** It complains of nothing but files that are full, if of anything. */
export function isOnlyFull({ alarms = [], raised = [] }: Pick<SeenEtcd, "alarms" | "raised">): boolean {
  return alarms.length <= raised.length && raised.every(({ kind }) => kind === "no-space");
}
