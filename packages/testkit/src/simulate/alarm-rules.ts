import type { EffectId } from "./effects.ts";
import { READ_JUST_BEFORE_MS, type MembersView } from "./members-view.ts";
import type { Stage } from "./stage.ts";
import type { Report } from "./violation.ts";

/** Where the configuration names none. Bytes. */
const DEFAULT_QUOTA_BYTES = 2_147_483_648;

/** What may be done to machines while etcd raises an alarm: nothing but what cures it (S10), and a wanted machine leaves for its wrong data alone (S12). */
export interface AlarmRules {
  /** After any effect. */
  look(): void;
  judgeAlarm(effect: EffectId, address: string, memberId: string | undefined): void;
  judgeLeave(address: string): void;
}

/** @param isOurs a machine of the cluster has, or had, this member */
export function createAlarmRules(
  { machineAt, isControlPlane, cluster, alarms, isHealthy }: MembersView,
  stage: Stage,
  isOurs: (memberId: string) => boolean,
  now: () => number,
  report: Report,
): AlarmRules {
  /** When an alarm was last seen to stand. */
  let lastRaisedAt: number | undefined;

  /** Whoever deletes a cluster does not mind an etcd that is full. */
  function judgeAlarm(effect: EffectId, address: string, memberId: string | undefined): void {
    const { alarmedSince, desired } = stage;
    if (alarmedSince === undefined || desired === undefined || !isControlPlane(address)) return;
    // The operator has taken it back already.
    if (alarms().length === 0 || isReplaced(effect, address) || isDeadBesideFull(effect, memberId) || isEnlarged(effect, address)) return;
    if (now() - alarmedSince > READ_JUST_BEFORE_MS) report("S10", `${effect} goes to ${address} while etcd raises an alarm`);
  }

  /** A member that is dead or of no machine of the cluster may leave while files are full: their cure may wait for that. Not while an alarm tells of data. */
  function isDeadBesideFull(effect: EffectId, memberId: string | undefined): boolean {
    const member = cluster()?.members.find(({ id }) => id === memberId);
    const isMissed = member === undefined || (isOurs(member.id) && isHealthy(member));
    return effect === "T8" && !isMissed && alarms().every(({ alarm }) => alarm === "NOSPACE");
  }

  /** While files are full a member may boot for a larger quota, which its etcd reads when it starts. */
  function isEnlarged(effect: EffectId, address: string): boolean {
    const { config, etcd } = machineAt(address).state;
    const next = Number(/quota-backend-bytes: "?(\d+)/.exec(config.persisted ?? "")?.[1] ?? 0);
    return effect === "T11" && next > (etcd.quotaBytes ?? DEFAULT_QUOTA_BYTES) && alarms().every(({ alarm }) => alarm === "NOSPACE");
  }

  /**
   * Who replaces the one member whose data are wrong: it leaves, or boots when it has left; of three voters at least, and while a majority has the same data and is
   * healthy.
   */
  function isReplaced(effect: EffectId, address: string): boolean {
    const raised = alarms();
    const voters = (cluster()?.members ?? []).filter(({ isLearner }) => !isLearner);
    const wrong = new Set(raised.flatMap(({ memberId, alarm }) => (alarm === "CORRUPT" ? [memberId] : [])));
    if (wrong.size === 0 || raised.some(({ memberId }) => /^0*$/.test(memberId))) return false;
    const own = machineAt(address).state.etcd.data?.memberId;
    if (effect === "T11") return own === undefined || !voters.some(({ id }) => id === own);
    if (effect !== "T7" || own === undefined || !wrong.has(own)) return false;
    return voters.length >= 3 && voters.filter((voter) => isHealthy(voter) && !wrong.has(voter.id)).length > voters.length / 2;
  }

  /** A wanted machine leaves etcd for wrong data alone. */
  function judgeLeave(address: string): void {
    const isWanted = stage.desired?.controlPlanes.includes(address) === true;
    if (isWanted && alarms().length > 0 && !isReplaced("T7", address))
      report("S12", `${address} is to leave etcd, which is still wanted and whose data are not those of a minority`);
    // What was read just before a person mended the data goes on.
    const isOver = now() - (lastRaisedAt ?? Number.NEGATIVE_INFINITY) > READ_JUST_BEFORE_MS;
    if (isWanted && alarms().length === 0 && stage.alarmedSince === undefined && isOver)
      report("S12", `${address} is to leave etcd, which is still wanted`);
  }

  return {
    look() {
      if (alarms().length > 0) lastRaisedAt = now();
    },
    judgeAlarm,
    judgeLeave,
  };
}
