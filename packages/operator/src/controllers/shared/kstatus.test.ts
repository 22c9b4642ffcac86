import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionCatalogue, conditionFor, rfc3339 } from "@talos-operator/api";
import type { Condition, ConditionInput, ConditionType, ReasonOf } from "@talos-operator/api";
import { kstatus } from "../../testing/kstatus-oracle.ts";
import { hasAnswered, judgedConditions, judgedStatus, kstatusOf, pausedStatus, startingConditions, toldGeneration } from "./kstatus.ts";
import type { Judged, Told } from "./kstatus.ts";

const GENERATION = 3;
const metadata = { namespace: "default", name: "demo", generation: GENERATION };

/** Said of the generation in force. */
function said<T extends ConditionType>(type: T, reason: ReasonOf<T>, message = `${reason}.`): ConditionInput {
  return conditionFor(type, reason, message, GENERATION);
}

const allReady = [said("Ready", "AllReady"), said("Progressing", "Settled")];

/** An object as it is stored when these conditions were written about it. */
function stored(kind: string, conditions: readonly ConditionInput[], observedGeneration = GENERATION): Told {
  const dated = conditions.map((condition): Condition => ({ ...condition, lastTransitionTime: rfc3339(0) }));
  return { kind, metadata, status: { observedGeneration, conditions: dated } };
}

/** What a pool says by itself. */
function pool(conditions: readonly ConditionInput[], hasOpenEffect = false): Told {
  return stored("TalosWorker", [...conditions, ...kstatusOf({ conditions, hasOpenEffect }, GENERATION)]);
}

const cases: readonly { readonly name: string; readonly judged: Judged; readonly want: string; readonly words?: RegExp }[] = [
  { name: "says neither of an object that is as asked for", judged: { conditions: allReady, hasOpenEffect: false }, want: "Current" },
  {
    name: "says Reconciling while an effect is open, though the object is ready",
    judged: { conditions: allReady, hasOpenEffect: true },
    want: "InProgress",
    words: /^A change of a machine is under way/,
  },
  {
    name: "says what ends by itself in its words",
    judged: {
      conditions: [said("Ready", "NodesNotReady", "cp-1: not ready."), said("Progressing", "WaitingForNodes")],
      hasOpenEffect: false,
    },
    want: "InProgress",
    words: /^cp-1: not ready/,
  },
  {
    name: "says the words that Progressing leads to, for those that it is a part of",
    judged: {
      conditions: [
        said("Ready", "AllReady"),
        said("Progressing", "ChangingConfiguration", "See the condition ConfigUpToDate."),
        said("ConfigUpToDate", "RollingOut", "cp-1 boots."),
      ],
      hasOpenEffect: true,
    },
    want: "InProgress",
    words: /^cp-1 boots/,
  },
  {
    name: "says Stalled where only a person goes on",
    judged: {
      conditions: [said("Ready", "InstallDiskUnclear", "cp-2 has no empty disk."), said("Progressing", "Blocked")],
      hasOpenEffect: false,
    },
    want: "Failed",
    words: /^cp-2 has no empty disk/,
  },
  {
    name: "says Reconciling while another machine is changed, whatever a person has to do beside it",
    judged: { conditions: [said("Ready", "InstallDiskUnclear"), said("Progressing", "Blocked")], hasOpenEffect: true },
    want: "InProgress",
  },
  {
    name: "says Stalled of a ready object whose version is another than is asked for",
    judged: { conditions: [...allReady, said("UpgradePending", "VersionDiffers")], hasOpenEffect: false },
    want: "Failed",
  },
  {
    name: "says Reconciling of settings that are rolled out, between two machines too",
    judged: { conditions: [...allReady, said("ConfigUpToDate", "RollingOut")], hasOpenEffect: false },
    want: "InProgress",
  },
  {
    name: "says Stalled of settings that a machine refused",
    judged: { conditions: [...allReady, said("ConfigUpToDate", "ConfigRejected")], hasOpenEffect: false },
    want: "Failed",
  },
  {
    name: "says Reconciling while a pool is under way, and names it",
    judged: { conditions: allReady, hasOpenEffect: false, parts: [pool(allReady, true)] },
    want: "InProgress",
    words: /^TalosWorker demo: /,
  },
  {
    name: "says Reconciling while a pool did not read its newest spec",
    judged: { conditions: allReady, hasOpenEffect: false, parts: [stored("TalosWorker", allReady, GENERATION - 1)] },
    want: "InProgress",
  },
  {
    name: "says Stalled when a pool is, and no other goes on",
    judged: {
      conditions: [said("Ready", "ControlPlaneNotReady"), said("Progressing", "Blocked")],
      hasOpenEffect: false,
      parts: [pool([said("Ready", "InstallDiskUnclear")])],
    },
    want: "Failed",
    words: /^TalosWorker demo: InstallDiskUnclear/,
  },
  {
    name: "names fields of a pool where the person wrote them",
    judged: {
      conditions: [said("Ready", "ControlPlaneNotReady"), said("Progressing", "Blocked")],
      hasOpenEffect: false,
      parts: [
        {
          ...stored("TalosControlPlane", [conditionFor("Stalled", "PersonNeeded", "spec.version: it is none.", GENERATION)]),
          fields: { spec: "spec.controlPlane" },
        },
      ],
    },
    want: "Failed",
    words: /^TalosControlPlane demo: spec\.controlPlane\.version: it is none\.$/,
  },
  {
    name: "says Reconciling of what is not ready when nobody says why",
    judged: { conditions: [said("Ready", "ControlPlaneNotReady")], hasOpenEffect: false, parts: [stored("TalosControlPlane", [])] },
    want: "InProgress",
  },
];

for (const { name, judged, want, words } of cases)
  test(`kstatus: ${name}`, () => {
    const { fields, conditions } = judgedStatus({ metadata }, {}, judged);
    const status = { observedGeneration: fields["observedGeneration"] as number, conditions };
    assert.equal(kstatus({ metadata, status }), want);
    const own = conditions.filter(({ type }) => type === "Reconciling" || type === "Stalled");
    assert.equal(own.length, want === "Current" ? 0 : 1);
    if (words !== undefined) assert.match(own[0]?.message ?? "", words);
  });

test("kstatus: whatever is said, an object with an open effect is in progress, and one that is not ready is never finished", () => {
  for (const hasOpenEffect of [true, false])
    for (const [type, { reasons }] of Object.entries(conditionCatalogue)) {
      if (type === "Reconciling" || type === "Stalled") continue;
      for (const reason of Object.keys(reasons)) {
        const one = said(type as ConditionType, reason as never);
        const conditions = type === "Ready" ? [one] : [...allReady, one];
        const told = [...conditions, ...kstatusOf({ conditions, hasOpenEffect }, GENERATION)];
        const found = kstatus({ metadata, status: { observedGeneration: GENERATION, conditions: told } });
        if (hasOpenEffect) assert.equal(found, "InProgress", `${type} ${reason}`);
        if (type === "Ready" && one.status !== "True") assert.notEqual(found, "Current", `${type} ${reason}`);
        assert.ok(told.filter((condition) => condition.type === "Reconciling" || condition.type === "Stalled").length <= 1);
      }
    }
});

test("kstatus: whatever is said, Progressing and Reconciling agree, and nothing is stalled that goes on", () => {
  const reasons = Object.keys(conditionCatalogue.Progressing.reasons) as readonly ReasonOf<"Progressing">[];
  for (const hasOpenEffect of [true, false])
    for (const progress of reasons)
      for (const [type, { reasons: others }] of Object.entries(conditionCatalogue)) {
        if (type === "Reconciling" || type === "Stalled" || type === "Progressing") continue;
        for (const reason of Object.keys(others)) {
          const conditions = [said("Progressing", progress), said(type as ConditionType, reason as never)];
          const told = judgedConditions({ conditions, hasOpenEffect }, GENERATION);
          const isTrue = (wanted: string): boolean => told.some((one) => one.type === wanted && one.status === "True");
          assert.equal(isTrue("Progressing"), isTrue("Reconciling"), `${progress} beside ${type} ${reason}`);
          assert.ok(!(isTrue("Progressing") && isTrue("Stalled")), `${progress} beside ${type} ${reason}`);
        }
      }
});

test("kstatus: what is being done is no stall, and what is only waited for is one where a person is needed", () => {
  const read = (conditions: readonly ConditionInput[]): string =>
    kstatus({
      metadata,
      status: { observedGeneration: GENERATION, conditions: judgedConditions({ conditions, hasOpenEffect: false }, GENERATION) },
    });
  const other = said("UpgradePending", "VersionDiffers");
  assert.equal(read([said("Progressing", "Removing"), said("Removing", "RemovingMember"), other]), "InProgress");
  assert.equal(read([said("Progressing", "Removing"), said("Removing", "ConfirmationRequired")]), "Failed");
  assert.equal(read([said("Progressing", "ChangingConfiguration"), said("ConfigUpToDate", "RollingOut"), other]), "InProgress");
  assert.equal(read([said("Progressing", "WaitingForNodes"), said("Ready", "NodesNotReady"), other]), "Failed");
  const [progress] = judgedConditions({ conditions: [said("Progressing", "WaitingForNodes"), other], hasOpenEffect: false }, GENERATION);
  assert.deepEqual([progress?.reason, progress?.message], ["Blocked", "VersionDiffers."]);
});

test("kstatus: a status that nobody wrote yet, and one of an earlier spec, are in progress", () => {
  assert.equal(kstatus({ metadata, status: { observedGeneration: -1 } }), "InProgress");
  assert.equal(kstatus(stored("TalosWorker", allReady, GENERATION - 1)), "InProgress");
  assert.equal(kstatus(stored("TalosWorker", allReady)), "Current");
});

test("kstatus: a pause turns what was under way, or asked for since, into something that a person releases, and leaves the rest", () => {
  const words = conditionFor("Paused", "ReconcileModeDisable", "The annotation says disable.");
  const typesOf = (told: Told): readonly string[] => pausedStatus(told, [words]).conditions.map(({ type }) => type);
  assert.deepEqual(typesOf(pool(allReady)), ["Paused"]);
  assert.deepEqual(typesOf(pool(allReady, true)), ["Paused", "Stalled"]);
  assert.deepEqual(typesOf(stored("TalosWorker", allReady, GENERATION - 1)), ["Paused", "Stalled"]);
  assert.deepEqual(typesOf({ kind: "TalosWorker", metadata, status: { observedGeneration: -1 } }), ["Paused"]);
  // The generation that was read before the pause is kept by the writer, not moved on.
  assert.deepEqual(pausedStatus(pool(allReady), [words]).fields, {});
});

test("kstatus: what says that it goes on is blocked by a pause of any kind, as often as it is looked at", () => {
  const words = conditionFor("Paused", "ReconcileModeDisable", "The annotation says disable.");
  const waits = [said("Ready", "WaitingForMachines"), said("Progressing", "WaitingForMachines")];
  const first = pausedStatus(pool(waits), [words]).conditions;
  const wanted = ["ReconcileModeDisable", "Blocked", "Paused"];
  assert.deepEqual(
    first.map(({ reason }) => reason),
    wanted,
  );
  assert.equal(first[1]?.message, "The annotation says disable.");
  const again = pausedStatus(stored("TalosWorker", [said("Ready", "WaitingForMachines"), ...first]), [words]).conditions;
  assert.deepEqual(
    again.map(({ reason }) => reason),
    wanted,
  );
});

test("kstatus: a schedule that its spec pauses is paused, and not on its way", () => {
  const conditions = [said("Ready", "SchedulePaused", "spec.paused is true."), said("Progressing", "Blocked")];
  const told = kstatusOf({ conditions, hasOpenEffect: false }, GENERATION);
  assert.deepEqual(
    told.map(({ type, reason, message }) => [type, reason, message]),
    [["Stalled", "Paused", "spec.paused is true."]],
  );
  assert.equal(kstatus(stored("TalosEtcdBackupSchedule", [...conditions, ...told])), "Failed");
});

test("kstatus: an edit is answered when its generation is told with something under way", () => {
  assert.equal(hasAnswered({ kind: "TalosWorker", metadata, status: { observedGeneration: -1 } }), true);
  assert.equal(hasAnswered(pool(allReady)), false);
  assert.equal(hasAnswered(pool(allReady, true)), true);
  assert.equal(hasAnswered({ ...pool(allReady, true), metadata: { ...metadata, generation: 4 } }), false);
  assert.equal(hasAnswered(stored("TalosWorker", [...allReady, said("Paused", "ReconcileModeDisable")])), true);
  assert.equal(hasAnswered({ ...pool(allReady), metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }), true);
});

test("kstatus: statuses of before the field tell their generation by their conditions", () => {
  assert.equal(toldGeneration({ conditions: stored("TalosWorker", allReady).status?.conditions ?? [] }), GENERATION);
  assert.equal(toldGeneration({ observedGeneration: -1 }), undefined);
  assert.equal(toldGeneration(undefined), undefined);
});

test("kstatus: what is about to begin makes Progressing true, and leaves what is true already", () => {
  const reasonOf = (condition: ConditionInput): unknown => startingConditions([condition], GENERATION)[0]?.reason;
  assert.equal(reasonOf(said("Progressing", "Settled")), "Starting");
  assert.equal(reasonOf(said("Progressing", "Blocked")), "Starting");
  assert.equal(reasonOf(said("Progressing", "ChangingConfiguration")), "ChangingConfiguration");
  assert.equal(reasonOf(said("Ready", "NodesNotReady")), "NodesNotReady");
});

test("kstatus: a pause leaves what was said of the object, apart from what is under way", () => {
  const words = conditionFor("Paused", "ReconcileModeDisable", "The annotation says disable.");
  const { keepsOthers, drops } = pausedStatus(pool(allReady), [words]);
  assert.equal(keepsOthers, true);
  assert.deepEqual(drops, ["DryRun", "Reconciling", "Stalled"]);
});
