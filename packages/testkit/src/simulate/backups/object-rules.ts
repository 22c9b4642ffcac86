import type { ClusterRecord, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { controllerOf, findCondition, isConditionTrue, labels } from "@talos-operator/api";
import type { BackupFacts } from "@talos-operator/backup";
import type { BackupRunRequest } from "@talos-operator/operator";
import type { Report } from "../violation.ts";
import type { ObjectView } from "../object-view.ts";

export interface BackupObjectRulesInput {
  readonly objects: ObjectView;
  readonly report: Report;
  readonly now: () => number;
  /** A backup is called good for the first time. */
  readonly onReady: (backup: TalosEtcdBackup, facts: BackupFacts) => void;
  /** When somebody changed what is stored of a slot. Milliseconds since the epoch. */
  readonly changedAt: (slot: string) => number | undefined;
}

/** Workers at once. */
const MOST_RUNS = 2;

/** What was stored before a risk is kept for a week. Milliseconds. */
const BEFORE_RISK_KEPT_MS = 7 * 86_400_000;

/** The clock of an operator may be ahead by so much. Milliseconds. */
const CLOCKS_DIFFER_MS = 6 * 3_600_000;

/** Watches what is said and done about backups, with eyes of its own. */
export interface BackupObjectRules {
  /** After every change of an object. */
  changed(): void;
  /** S18: a run is about to begin beside these. */
  starts(run: BackupRunRequest, going: readonly BackupRunRequest[]): void;
}

export function createBackupObjectRules({ objects, report, now, onReady, changedAt }: BackupObjectRulesInput): BackupObjectRules {
  /** Backups that were called good, by UID. */
  const good = new Map<string, string>();
  /** When the last proof of a slot began. */
  const proofs = new Map<string, number>();
  /** Backups that were seen to go, by UID. */
  const going = new Set<string>();

  const backups = (): readonly TalosEtcdBackup[] => objects.all("talosetcdbackups") as unknown as readonly TalosEtcdBackup[];
  const recordOf = (name: string): ClusterRecord | undefined => objects.get("clusterrecords", name) as unknown as ClusterRecord | undefined;

  const judgeRecord = ({ metadata, spec }: ClusterRecord): void => {
    const { snapshot, openControlPlaneIntent } = spec;
    if (snapshot === undefined || openControlPlaneIntent === undefined || now() >= Date.parse(snapshot.deadline)) return;
    report("S18", `${metadata.name}: ${openControlPlaneIntent.machine.name} is disturbed while ${snapshot.run} takes a snapshot`);
  };

  const judgeWords = (backup: TalosEtcdBackup): void => {
    const { metadata, status } = backup;
    const uid = metadata.uid ?? "";
    const isReady = isConditionTrue(status?.conditions, "Ready");
    const before = good.get(uid);
    if (metadata.deletionTimestamp !== undefined) return;
    if (isReady && isConditionTrue(status?.conditions, "Failed")) report("W32", `${metadata.name} is Ready and Failed`);
    if (before !== undefined && (!isReady || status?.filename !== before))
      report(
        "W32",
        `${metadata.name} was stored as ${before}, and says ${findCondition(status?.conditions, "Ready")?.reason ?? "nothing"} now`,
      );
    if (!isReady || before !== undefined) return;
    const facts = factsOf(backup);
    if (facts === undefined) return report("S25", `${metadata.name} is Ready without saying what is stored`);
    good.set(uid, facts.object);
    onReady(backup, facts);
  };

  /** What was read back after somebody had changed it is not what was stored. */
  const judgeProof = ({ metadata, status }: TalosEtcdBackup): void => {
    const since = changedAt(status?.slot ?? "");
    const began = proofs.get(status?.slot ?? "");
    if (since === undefined || began === undefined || began <= since || status?.run !== undefined) return;
    if (isConditionTrue(status?.conditions, "Proved") && status?.proof?.on === "FromStore")
      report("S26", `${metadata.name} is proved from the store, and somebody had changed it there`);
  };

  /** Retention keeps as many as are asked for, and the newest that was proved. */
  const judgeRemoval = (backup: TalosEtcdBackup): void => {
    const { metadata, status } = backup;
    const uid = metadata.uid ?? "";
    if (metadata.deletionTimestamp === undefined || going.has(uid)) return;
    going.add(uid);
    const owner = controllerOf(metadata);
    if (owner === undefined) return;
    const schedule = objects.get("talosetcdbackupschedules", owner.name) as unknown as TalosEtcdBackupSchedule | undefined;
    if (schedule === undefined || schedule.metadata.uid !== owner.uid || schedule.metadata.deletionTimestamp !== undefined) return;
    if (status?.filename === undefined) return;
    const left = backups().filter(
      (one) => one.metadata.uid !== uid && controllerOf(one.metadata)?.uid === owner.uid && one.metadata.deletionTimestamp === undefined,
    );
    const stored = left.filter((one) => one.status?.filename !== undefined);
    // Those of before a risk go by their age alone, and stand for none of the schedule's.
    if (isBeforeRisk(backup)) {
      const ageMs = now() - Date.parse(metadata.creationTimestamp ?? "");
      if (ageMs < BEFORE_RISK_KEPT_MS - CLOCKS_DIFFER_MS)
        report("S27", `${metadata.name}, from before a risk, is removed after ${ageMs} ms`);
      if (stored.length === 0) report("S27", `${metadata.name} is removed, and it was the last one`);
    } else {
      const most = schedule.spec.retention ?? 5;
      const own = stored.filter((one) => !isBeforeRisk(one));
      if (own.length < most) report("S27", `${metadata.name} is removed, and ${own.length} of ${most} are left`);
    }
    const isProved = isConditionTrue(status.conditions, "Proved");
    if (isProved && !stored.some((one) => isConditionTrue(one.status?.conditions, "Proved")))
      report("S27", `${metadata.name} is removed, and it was the last one that was proved`);
  };

  return {
    changed() {
      for (const record of objects.all("clusterrecords")) judgeRecord(record as unknown as ClusterRecord);
      for (const backup of backups()) {
        judgeWords(backup);
        judgeRemoval(backup);
        judgeProof(backup);
      }
    },
    starts(run, others) {
      if (others.length >= MOST_RUNS) report("O8", `${run.name} begins beside ${others.map(({ name }) => name).join(", ")}`);
      if (run.task.kind === "prove") proofs.set(run.task.slot, now());
      if (run.task.kind !== "take") return;
      const { controlPlane } = run.task.owner;
      const same = others.find(({ task }) => task.kind === "take" && task.owner.controlPlane === controlPlane);
      if (same !== undefined) report("S18", `${run.name} takes a snapshot of ${controlPlane} while ${same.name} does`);
      const record = recordOf(controlPlane);
      if (record?.spec.openControlPlaneIntent !== undefined)
        report("S18", `${run.name} takes a snapshot while ${record.spec.openControlPlaneIntent.machine.name} is disturbed`);
    },
  };
}

function isBeforeRisk({ metadata }: TalosEtcdBackup): boolean {
  return metadata.labels?.[labels.beforeRisk] !== undefined;
}

/** What a status says of the stored bytes; `undefined` where it leaves something out. */
function factsOf({ status, spec }: TalosEtcdBackup): BackupFacts | undefined {
  const { slot, filename, size, storedSize, sha256, storedSha256, revision, totalKey, liveKeys, startTime, completionTime, source, run } =
    status ?? {};
  if (slot === undefined || filename === undefined || size === undefined || storedSize === undefined) return undefined;
  if (sha256 === undefined || storedSha256 === undefined || revision === undefined || totalKey === undefined || liveKeys === undefined)
    return undefined;
  if (startTime === undefined || completionTime === undefined || source === undefined) return undefined;
  return {
    slot,
    attempt: run?.attempt ?? "",
    object: filename,
    startedAt: startTime,
    endedAt: completionTime,
    size,
    sha256,
    storedSize,
    storedSha256,
    compression: "zstd",
    encryption: (spec.encryption?.recipients ?? []).length > 0 ? "age" : "none",
    revision,
    totalKey,
    liveKeys,
    source,
  };
}
