import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { defaultRules } from "../../decide.ts";
import { foresee } from "../../planning/foresee.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import type { Look, SeenEtcd } from "../../model/look.ts";
import type { Observed, SentEffect } from "../../model/observation.ts";
import type { ReplacementIntent } from "./plan-replacement.ts";
import { beforeReplacement } from "./before-replacement.ts";
import { snapshotBefore } from "../../disruption/snapshot-before-risk.ts";
import { factsOf } from "../../record/facts.ts";
import { rfc3339 } from "@talos-operator/api";
import type { TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";

const id = (n: number): string => String(n).padStart(16, "0");
const MINUTE = 60_000;

const open: ReplacementIntent = {
  what: "ReplaceMember",
  role: "controlplane",
  machine: "demo-10.0.0.2",
  address: "10.0.0.2",
  uuid: "uuid-10.0.0.2",
  memberId: id(2),
  at: NOW - 10 * MINUTE,
  deadline: NOW + 10 * MINUTE,
  why: "",
};
/** etcd of a machine that has left. */
const stopped: SeenEtcd = {
  service: "Finished",
  isHealthy: false,
  localMember: "none",
  members: undefined,
  leader: undefined,
  hasData: false,
};

interface Given extends Omit<World, "facts" | "looks"> {
  readonly count?: number;
  /** Whose data an alarm names; default the second's. */
  readonly wrong?: readonly string[];
  /** Members that etcd lists no more. */
  readonly gone?: readonly number[];
  /** What machines show instead, by number; `undefined` = nothing. */
  readonly shows?: Readonly<Record<number, SeenEtcd | undefined>>;
  readonly platform?: string;
  readonly isOpen?: boolean;
}

function seenOf({ count = 3, wrong = [id(2)], gone = [], shows = {}, platform, isOpen = false, ...over }: Given): Observed {
  const raised = wrong.map((one) => ({ member: one, kind: "corrupt" as const }));
  const alarm: Partial<SeenEtcd> = wrong.length === 0 ? {} : { alarms: wrong.map(() => "x"), raised };
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const looks: Record<string, Look> = Object.fromEntries(
    numbers.map((n) => {
      const own = member(n - 1, count);
      const members = (own.members ?? []).filter((one) => !gone.some((number) => one.id === id(number)));
      const etcd = n in shows ? shows[n] : { ...own, members, ...alarm };
      const look = etcd === undefined ? silent : running(etcd, { at: over.now ?? NOW, ...(platform === undefined ? {} : { platform }) });
      return [`10.0.0.${n}`, look];
    }),
  );
  return observed({
    controlPlane: controlPlane(count),
    facts: facts({
      bootstrapDone: founded,
      machines: numbers.map((n) => configured(`10.0.0.${n}`, "controlplane", "demo", platform === undefined ? {} : { platform })),
      intents: isOpen ? [open] : [],
    }),
    looks,
    ...over,
  });
}

/** Kinds and machines that are written down, what is sent, and how it is told. */
function planOf(given: Given): { readonly opened: string; readonly sent: string; readonly says: string; readonly reason: string } {
  const assessed = assess(seenOf(given));
  const { care: step, facts: before } = assessed;
  return {
    opened: (step?.facts.intents ?? []).map(({ what, machine }) => `${what} ${machine}`).join(),
    sent: (step?.actions ?? [])
      .map((action) => `${action.kind} ${"machine" in action && typeof action.machine === "string" ? action.machine : ""}`)
      .join(),
    says: `${step?.needsPerson === true ? "person: " : ""}${step?.says ?? ""}`,
    reason: step === undefined || step.facts === before ? "" : (step.facts.decisions.at(-1)?.reason ?? ""),
  };
}

const begun = ["ReplaceMember demo-10.0.0.2", "ReplaceMember demo-10.0.0.2"] as const;

describe("a member with wrong data", () => {
  const begins: readonly (readonly [string, Given, readonly [string, string]])[] = [
    ["of three", {}, begun],
    ["of five", { count: 5 }, begun],
    ["one of two of five", { count: 5, wrong: [id(3), id(2)] }, begun],
    ["the leader after the other", { count: 5, wrong: [id(1), id(2)] }, begun],
    ["the leader alone", { wrong: [id(1)] }, ["ReplaceMember demo-10.0.0.1", "ReplaceMember demo-10.0.0.1"]],
    ["beside an alarm of one that is gone", { wrong: [id(9), id(2)] }, begun],
  ];
  for (const [what, given, want] of begins)
    test(`is replaced: ${what}`, () => {
      const { opened, sent, reason } = planOf(given);
      assert.deepEqual([opened, sent, reason], [...want, "DataCorrupt"]);
    });

  const stays: readonly (readonly [string, Given, RegExp])[] = [
    ["one of two", { count: 2 }, /^person: no majority/],
    ["two of three", { wrong: [id(1), id(2)] }, /^person: no majority/],
    ["three of five", { count: 5, wrong: [id(1), id(2), id(3)] }, /^person: no majority/],
    ["one of three while another is away", { shows: { 3: undefined } }, /^person: no majority/],
    ["nobody in particular", { wrong: ["0".repeat(16)] }, /^$/],
    [
      "that is away itself",
      { shows: { 2: undefined } },
      /^person: no machine that answers has member 0+2, which is that of demo-10\.0\.0\.2: bring it back/,
    ],
    ["in a container", { platform: "container" }, /^person: demo-10\.0\.0\.2 is a container/],
    [
      "by a leader that compares with itself",
      { shows: { 3: { ...member(2, 3), comparesWithLeader: true } } },
      /^person: corrupt-check-time/,
    ],
    ["on a machine that is paused", { held: new Set(["demo-10.0.0.2"]) }, /^person: .*is paused/],
    ["by a word that nobody knows", { unknownMode: "off" }, /^person: .*says "off"/],
    ["right after a takeover", { mayDisturb: false }, /^demo-10\.0\.0\.2 is replaced later: this operator just took over/],
  ];
  for (const [what, given, says] of stays)
    test(`stays: ${what}`, () => {
      const { opened, sent, says: said } = planOf(given);
      assert.deepEqual([opened, sent], ["", ""]);
      assert.match(said, says);
    });

  test("is nobody's business while the cluster goes", () =>
    assert.equal(planOf({ controlPlane: controlPlane(3, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) }).says, ""));

  test("is replaced after a snapshot of its own: one of the schedule may hold the wrong data, however fresh it is", () => {
    const at = rfc3339(NOW - MINUTE);
    const spec = { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} } };
    const apiVersion = "talos.alperen.cloud/v1alpha1";
    const schedule: TalosEtcdBackupSchedule = {
      apiVersion,
      kind: "TalosEtcdBackupSchedule",
      metadata: { namespace: "default", name: "nightly", uid: "uid-nightly" },
      spec: { schedule: "0 2 * * *", backupTemplate: { spec } },
    };
    const backup: TalosEtcdBackup = {
      apiVersion,
      kind: "TalosEtcdBackup",
      metadata: { namespace: "default", name: "nightly-1", uid: "uid-nightly-1", creationTimestamp: at },
      spec,
      status: { slot: "s", filename: "f", startTime: at, completionTime: at },
    };
    const snapshots = { schedules: [schedule], backups: [backup] };
    const seen = seenOf({ snapshots });
    const known = factsOf(seen);
    assert.ok(known !== undefined);
    const joined = known.machines.map((machine) => ({ ...machine, configuredAt: NOW - 24 * 60 * MINUTE }));
    const settled = { ...known, bootstrapDone: { ...founded, at: NOW - 24 * 60 * MINUTE }, machines: joined };
    assert.equal(snapshotBefore(seen, settled, ["demo-10.0.0.2"]).reason, "SnapshotTaken", "fresh for whoever leaves");
    assert.equal(beforeReplacement(assess(seen), settled)?.reason, "SnapshotAwaited");
    const { opened, sent } = planOf({ snapshots });
    assert.deepEqual([opened, sent], ["", "TakeSnapshot "]);
  });

  test("is replaced in a plan in three steps", () => {
    const steps = foresee(seenOf({}), defaultRules).steps.map(({ action }) => action);
    assert.deepEqual(
      steps.filter((action) => action !== "WriteRecord"),
      ["ReplaceMember", "RejoinEtcd", "DisarmAlarms"],
    );
  });

  test("is replaced in a plan that says what is left of the quorum beneath the alarm", () => {
    const step = foresee(seenOf({ count: 5 }), defaultRules).steps.find(({ action }) => action === "ReplaceMember");
    assert.match(step?.quorum ?? "", /^4 healthy of 5 voters would be left, and 3 are needed$/);
  });

  const asked = (word: string): ReadonlyMap<string, SentEffect> =>
    new Map([[`${word}/demo-10.0.0.2`, { at: NOW, outcome: "answered", detail: "" }]]);
  const next: SeenEtcd = { ...member(1, 3), localMember: id(7) };
  const rejoined = (isLearner: boolean): Given => ({
    isOpen: true,
    shows: Object.fromEntries(
      [1, 2, 3].map((n) => {
        const own = n === 2 ? next : member(n - 1, 3);
        const members = (own.members ?? []).map((one) => (one.id === id(2) ? { ...one, id: id(7), isLearner } : one));
        return [n, { ...own, members, alarms: ["x"], raised: [{ member: id(2), kind: "corrupt" as const }] }];
      }),
    ),
  });
  const left = { isOpen: true, gone: [2] } as const;
  const stands = "ReplaceMember demo-10.0.0.2";
  const under: readonly (readonly [string, Given, string, string, string])[] = [
    ["is asked to leave again", { isOpen: true }, stands, stands, ""],
    ["is not asked at once again", { isOpen: true, sent: asked("ReplaceMember") }, stands, "", ""],
    [
      "is not asked while it does not show that member",
      { isOpen: true, shows: { 2: { ...stopped, localMember: undefined } } },
      stands,
      "",
      "",
    ],
    ["is not asked when no alarm names it any more", { isOpen: true, wrong: [] }, stands, "", ""],
    ["is not asked when a majority is wrong by then", { isOpen: true, wrong: [id(2), id(3)] }, stands, "", ""],
    ["is not asked when it is one of two voters by then", { isOpen: true, count: 2 }, stands, "", ""],
    ["is not asked after the deadline", { isOpen: true, now: open.deadline }, stands, "", ""],
    ["is let go when it has not left in time", { isOpen: true, now: open.deadline + 10 * MINUTE }, "", "", "StillListed"],
    [
      "is let go when nobody knows etcd for so long",
      { isOpen: true, now: open.deadline + 10 * MINUTE, shows: { 1: undefined, 3: undefined } },
      "",
      "",
      "NotSeen",
    ],
    ["boots when it has left", { ...left, shows: { 2: stopped } }, stands, "RejoinEtcd demo-10.0.0.2", ""],
    ["does not boot right after a takeover", { ...left, shows: { 2: stopped }, mayDisturb: false }, stands, "", ""],
    ["does not boot by a word that nobody knows", { ...left, shows: { 2: stopped }, unknownMode: "off" }, stands, "", ""],
    ["boots once", { ...left, shows: { 2: stopped }, sent: asked("RejoinEtcd") }, stands, "", ""],
    [
      "does not boot while etcd is stopping",
      { ...left, shows: { 2: { ...stopped, service: "Stopping" } }, sent: asked("ReplaceMember") },
      stands,
      "",
      "",
    ],
    ["is waited for while it boots", { ...left, shows: { 2: undefined } }, stands, "", ""],
    ["is let go when it is not back in time", { ...left, shows: { 2: undefined }, now: open.deadline }, "", "", "NotBack"],
    ["is let go when it keeps its data", { ...left, shows: { 2: { ...stopped, hasData: true } } }, "", "", "KeptItsData"],
    [
      "is not let go for that within two minutes",
      { ...left, shows: { 2: { ...stopped, hasData: true } }, sent: asked("ReplaceMember") },
      stands,
      "",
      "",
    ],
    ["is done when it votes again", rejoined(false), "", "", "Joined"],
    ["is done when it is a learner", rejoined(true), "", "", "Joined"],
  ];
  for (const [what, given, opened, sent, reason] of under)
    test(`that is being replaced ${what}`, () => {
      const plan = planOf(given);
      assert.deepEqual([plan.opened, plan.sent, plan.reason], [opened, sent, reason]);
    });

  test("that is being replaced is let go when its machine leaves the cluster, or the cluster goes", () => {
    const seen = seenOf({ isOpen: true, gone: [2], shows: { 2: stopped } });
    const [second] = seen.machines.filter(({ declared }) => declared.address === "10.0.0.2");
    assert.ok(second !== undefined);
    const leaving = { ...seen, machines: seen.machines.filter((machine) => machine !== second), former: [second] };
    assert.equal(assess(leaving).care?.facts.decisions.at(-1)?.reason, "Left");
    assert.equal(assess({ ...leaving, former: [] }).care?.facts.decisions.at(-1)?.reason, "Gone");
    const going = controlPlane(3, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    assert.equal(planOf({ isOpen: true, controlPlane: going }).reason, "Gone");
  });

  test("that is gone leaves an alarm, which is taken back at once", () => {
    const { opened, sent } = planOf({ gone: [2], shows: { 2: stopped } });
    assert.deepEqual([opened, sent], ["DisarmAlarms demo-10.0.0.1", "DisarmAlarms demo-10.0.0.1"]);
  });
});
