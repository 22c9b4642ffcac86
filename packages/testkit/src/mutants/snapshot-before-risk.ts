import { engine } from "./mutant.ts";
import type { Mutant, SourceEdit } from "./mutant.ts";

const rule = `${engine}/disruption/snapshot-before-risk.ts`;
const table = [`${engine}/disruption/snapshot-before-risk.test.ts`] as const;
const slotTable = [`${engine}/disruption/control-plane-slot.test.ts`] as const;
const story = ["testkit/src/stories/snapshot-before-risk.test.ts"] as const;
const retention = ["operator/src/controllers/talosetcdbackupschedule/decide.test.ts"] as const;

const edit = (file: string, find: string, replace: string): SourceEdit => ({ file, find, replace });
const fault = (name: string, about: string, tests: readonly string[], ...edits: readonly SourceEdit[]): Mutant => ({
  name,
  about,
  tests,
  edits,
});

/** Faults of the snapshot before control planes are disturbed. */
export const snapshotBeforeRiskFaults: readonly Mutant[] = [
  fault(
    "snapshot-stops-repair",
    "lets a dead member wait for a snapshot that is required (Li5)",
    slotTable,
    edit(
      `${engine}/disruption/control-plane-slot.ts`,
      'if ((why !== "remove" && why !== "renew") || under',
      'if ((why !== "remove" && why !== "replace") || under',
    ),
  ),
  fault(
    "snapshot-stops-what-was-begun",
    "holds up a wipe that was begun, for a snapshot",
    slotTable,
    edit(`${engine}/disruption/control-plane-slot.ts`, "|| under !== undefined || beforeRisk", "|| beforeRisk"),
  ),
  fault(
    "snapshot-of-learners",
    "lets a learner that leaves wait for a snapshot",
    slotTable,
    edit(`${engine}/disruption/control-plane-slot.ts`, "return hasVote ? { kind", "return hasVote || member !== undefined ? { kind"),
  ),
  fault(
    "snapshot-not-waited-for",
    "disturbs a control plane while the snapshot from before is being taken",
    story,
    edit(`${engine}/disruption/control-plane-slot.ts`, "beforeRisk?.holds !== true", "beforeRisk?.take === undefined"),
  ),
  fault(
    "snapshot-of-long-ago",
    "takes a snapshot of an hour ago for fresh",
    table,
    edit(rule, "const FRESH_MS = 15 *", "const FRESH_MS = 75 *"),
  ),
  fault(
    "snapshot-before-the-change",
    "takes a snapshot from before the last change of members for fresh",
    table,
    edit(rule, "isWithin(at, now, FRESH_MS) && at > changedAt", "isWithin(at, now, FRESH_MS) && at > changedAt - 86_400_000"),
  ),
  fault(
    "snapshot-beside-a-join",
    "takes a snapshot for fresh although a control plane may have joined since",
    table,
    edit(rule, "configuredAt + JOINS_WITHIN_MS", "configuredAt + JOINS_WITHIN_MS * 0"),
  ),
  fault(
    "snapshot-for-each-machine",
    "takes a snapshot for each of those that leave",
    [...table, ...story],
    edit(rule, "const RUN_MS = 60 * 60_000", "const RUN_MS = 60 * 0"),
  ),
  fault(
    "snapshot-of-another-run",
    "takes a snapshot that was taken before others left for one of this run",
    table,
    edit(rule, "return machines.every((machine) => before.includes(machine)) &&", "return before.length > 0 &&"),
  ),
  fault(
    "snapshot-disproved",
    "relies on a snapshot of which a proof has failed",
    table,
    edit(rule, '?.status !== "False"', '?.status !== "None"'),
  ),
  fault(
    "snapshot-preferred-for-ever",
    "waits without end for a snapshot that is only preferred",
    [...table, ...story],
    edit(
      rule,
      'if (!isRequired)\n    return { reason: "WentOnWithout"',
      'if (!isRequired && why === name)\n    return { reason: "WentOnWithout"',
    ),
  ),
  fault(
    "snapshot-required-for-a-while",
    "goes on without a snapshot that is required, as soon as it failed",
    [...table, ...story],
    edit(
      rule,
      'if (!isRequired)\n    return { reason: "WentOnWithout"',
      'if (isRequired || !isRequired)\n    return { reason: "WentOnWithout"',
    ),
  ),
  fault(
    "snapshot-not-taken-anew",
    "never takes a required snapshot anew: a store that is back helps nobody",
    [...table, ...story],
    edit(rule, "if (seen.now >= anewAt ||", "if (seen.now >= anewAt + 86_400_000 ||"),
  ),
  fault(
    "snapshot-word-unknown-preferred",
    "takes a word that is none for the default, and says so",
    [...table, ...story],
    edit("api/src/keys.ts", 'return { policy: "required", unknown: value', 'return { policy: "preferred", unknown: value'),
  ),
  fault(
    "snapshot-in-a-paused-store",
    "takes the store of a schedule that is paused",
    [...table, ...story],
    edit(rule, "return spec.paused !== true && metadata", "return metadata"),
  ),
  fault(
    "snapshot-under-a-new-name",
    "makes another snapshot when it does not know of the first",
    table,
    edit(rule, "last?.metadata.uid].join", "last?.metadata.uid, seen.watchedSince].join"),
  ),
  fault(
    "snapshot-refused-for-ever",
    "waits for a snapshot that the API server refuses, though it is only preferred",
    [...table, ...story],
    edit(rule, "if (isRefusedTwice && !isRequired)", "if (isRefusedTwice && isRequired && !isRequired)"),
  ),
  fault(
    "snapshot-let-go-early",
    "lets a snapshot from before a risk go by the rules of the schedule",
    retention,
    edit(
      "operator/src/controllers/talosetcdbackupschedule/decide.ts",
      "const BEFORE_RISK_KEPT_MS = 7 * DAY_MS",
      "const BEFORE_RISK_KEPT_MS = 1 * DAY_MS",
    ),
  ),
  fault(
    "snapshot-kept-for-ever",
    "never lets a snapshot from before a risk go",
    retention,
    edit(
      "operator/src/controllers/talosetcdbackupschedule/decide.ts",
      "const BEFORE_RISK_KEPT_MS = 7 * DAY_MS",
      "const BEFORE_RISK_KEPT_MS = 7_000 * DAY_MS",
    ),
  ),
  fault(
    "snapshot-pushes-out",
    "counts a snapshot from before a risk among those that a schedule keeps",
    retention,
    edit(
      "operator/src/controllers/talosetcdbackupschedule/decide.ts",
      "const all = made.filter((backup) => !isBeforeRisk(backup));",
      "const all = made;",
    ),
  ),
  fault(
    "snapshot-of-a-cluster-that-goes",
    "lets a cluster that is deleted wait for a snapshot",
    [`${engine}/procedures/remove/before-removals.test.ts`],
    edit(`${engine}/procedures/remove/before-removals.ts`, "seen.controlPlane.metadata.deletionTimestamp !== undefined ||", ""),
  ),
];
