import type { SeenEtcd } from "../../../model/look.ts";

/** What an answering control plane tells of etcd. */
export interface TellingMember {
  readonly machine: string;
  readonly etcd: Pick<SeenEtcd, "alarms" | "localMember">;
}

/**
 * Whose etcd raises an alarm, and which. Pure. Every member tells the alarms of all: the machine is that of the member that an alarm names, as far as it answers, else
 * the first one that tells of it.
 */
export function alarmedMember(telling: readonly TellingMember[]): { readonly machine: string; readonly alarms: string } | undefined {
  const teller = telling.find(({ etcd }) => (etcd.alarms ?? []).length > 0);
  if (teller === undefined) return undefined;
  const alarms = teller.etcd.alarms ?? [];
  const ids = new Set(alarms.flatMap(memberIdOf));
  const named = telling.filter(({ etcd }) => etcd.localMember !== undefined && ids.has(etcd.localMember)).map(({ machine }) => machine);
  return { machine: named.length === 0 ? teller.machine : named.join(", "), alarms: alarms.join(", ") };
}

/** `memberID:10627508175174891110 alarm:CORRUPT`, as etcd prints it: decimal, where members are named by 16 hex digits. */
function memberIdOf(alarm: string): readonly string[] {
  const [, id] = /\bmemberID:(\d{1,20})\b/.exec(alarm) ?? [];
  return id === undefined ? [] : [BigInt(id).toString(16).padStart(16, "0")];
}
