import type { Mutant, SourceEdit } from "./mutant.ts";
import { engine } from "./mutant.ts";

const workload = "backup";
const controllers = "operator/src/controllers";

const edit = (file: string, find: string, replace: string): SourceEdit => ({ file: `${controllers}/${file}`, find, replace });

/** Faults of who decides about backups: each must be noticed in simulated lives. */
export const backupControllerFaults: readonly Mutant[] = [
  {
    name: "backup-status-overtaken",
    about: "lets a status that arrives late take back what a run told (W32)",
    stands: ["W32"],
    workload,
    trouble: "snapshots-damaged",
    runs: 120,
    edits: [edit("talosetcdbackup/controller.ts", "events, { isMemory: true });", "events);")],
  },
  {
    name: "backup-beside-disruption",
    about: "takes a snapshot while a control plane is being disturbed (S18)",
    tests: ["testkit/src/stories/backups.test.ts"],
    edits: [edit("talosetcdbackup/claim.ts", "disrupted: record?.spec.openControlPlaneIntent?.machine.name,", "disrupted: undefined,")],
  },
  {
    name: "disruption-beside-backup",
    about: "begins to disturb a control plane while a snapshot is being taken (S18)",
    workload,
    edits: [
      {
        file: `${engine}/record/facts.ts`,
        find: "return facts?.snapshot !== undefined && now < facts.snapshot.deadline;",
        replace: "return facts?.snapshot !== undefined && now < 0;",
      },
    ],
  },
  {
    name: "backup-started-out-of-turn",
    about: "starts a run that nobody knows any more beside as many as may run at once (O8)",
    tests: [`${controllers}/talosetcdbackup/decide.test.ts`],
    edits: [edit("talosetcdbackup/decide.ts", "othersRunning < RUNS_AT_ONCE ? {", "othersRunning >= 0 ? {")],
  },
  {
    name: "backup-twice-at-once",
    about: "takes two snapshots of one cluster at once (S18)",
    workload,
    edits: [
      edit("talosetcdbackup/claim.ts", "|| (snapshot !== undefined && snapshot.run !== claim.run)) return false;", ") return false;"),
      edit("talosetcdbackup/decide.ts", "if (other !== undefined && other.run !== runName(id))", "if (other !== undefined && now < 0)"),
    ],
  },
  {
    name: "backup-claim-left",
    about: "leaves the claim of a snapshot that ended: control planes wait for nothing (Li1)",
    workload,
    edits: [
      edit(
        "talosetcdbackup/claim.ts",
        "if (record?.spec.snapshot?.run !== run) return true;",
        "if (record?.spec.snapshot?.run !== `${run}-`) return true;",
      ),
    ],
  },
  {
    name: "backup-retention-too-eager",
    about: "keeps one backup less than retention asks for (S27)",
    workload,
    edits: [
      edit(
        "talosetcdbackupschedule/retention.ts",
        "newestFirst.slice(0, Math.max(1, rules.count))",
        "newestFirst.slice(0, Math.max(1, rules.count - 1))",
      ),
    ],
  },
  {
    name: "backup-ready-unstored",
    about: "calls a backup good because its run ended, whatever it told (S25)",
    workload,
    trouble: "store-errors",
    edits: [
      edit(
        "talosetcdbackup/decide.ts",
        'if (end.kind === "failed") return endOfTry(seen, run, failureOf(end));',
        'if (end.kind === "failed") return { ...endOfTry(seen, run, failureOf(end)), conditions: backupConditions(seen.backup, "BackupSucceeded", { reason: "BackupSucceeded", message: "" }) };',
      ),
    ],
  },
  {
    name: "schedule-of-a-clock-ahead",
    about: "waits for a time that was promised while a clock was ahead (Li1)",
    workload,
    trouble: "clock-jump",
    runs: 80,
    edits: [edit("talosetcdbackupschedule/firing.ts", "&& promised <= (times.after(now) ?? promised)", "")],
  },
  {
    name: "backup-of-import-claimed",
    about: "writes on a cluster whose import is pending that it is being backed up",
    tests: ["testkit/src/stories/import-backups.test.ts"],
    edits: [
      edit(
        "talosetcdbackup/controller.ts",
        ": !(await readClaims(key, client, clock.now())).hasRecord;",
        `: (await client
              .resource<TalosEtcdBackup>({ group: "talos.alperen.cloud", version: "v1alpha1", plural: "taloscontrolplanes", kind: "TalosControlPlane", namespaced: true })
              .patch(key, { type: "merge", value: { metadata: { annotations: { claimed: run.name } } } })) !== undefined;`,
      ),
    ],
  },
  {
    name: "backup-of-import-hidden",
    about: "lets a cluster that was taken over be disturbed while a snapshot of it goes on that began before (S18)",
    tests: ["testkit/src/stories/import-backups.test.ts"],
    edits: [
      edit(
        "talosetcdbackup/controller.ts",
        "if (!hasRecord || snapshot !== undefined || disrupted !== undefined || leftMs <= 0) return;",
        "if (hasRecord || !hasRecord) return;",
      ),
    ],
  },
  {
    name: "backup-of-import-unproven",
    about: "asks a machine for a snapshot that does not hold the keys which were found for a cluster of others",
    tests: ["operator/src/procedures/import/import-sources.test.ts"],
    edits: [
      {
        file: "operator/src/procedures/import/import-sources.ts",
        find: "reading.clusterId === found.clusterId && reading.hasKeysOfBundle",
        replace: "reading.clusterId === found.clusterId",
      },
    ],
  },
  {
    name: "backup-kept-called-removed",
    about: "calls a backup removed whose bytes the bucket keeps, by versions or object lock (IN90)",
    workload,
    edits: [edit("talosetcdbackup/decide.ts", "if (result.kept.length === 0)", "if (result.kept.length >= 0)")],
  },
];
