import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import { wasAsked, withCare, withCareEnded } from "./care-intents.ts";
import type { CareIntent } from "./care-intents.ts";
import type { Look, SeenEtcd } from "../../model/look.ts";
import type { Observed, SentEffect } from "../../model/observation.ts";

const intent = (what: CareIntent["what"]): CareIntent => ({
  what,
  role: "controlplane",
  machine: "demo-10.0.0.2",
  address: "10.0.0.2",
  uuid: "",
  at: NOW - 60_000,
  deadline: NOW,
  why: "",
  ...(what === "Defragment" ? { dbSizeBytes: 1_000 } : {}),
});
const alarm: Partial<SeenEtcd> = { alarms: ["x"], raised: [{ member: "0000000000000002", kind: "no-space" }] };

/** How an intent ends, when its member tells this. `undefined` = it stays open. */
function endOf(what: CareIntent["what"], told: Partial<SeenEtcd> | undefined, over: Partial<Observed> = {}): string | undefined {
  const open = intent(what);
  const known = facts({ bootstrapDone: founded, intents: [open], machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`)) });
  const looks: Record<string, Look> = Object.fromEntries(
    [0, 1, 2].map((index) => [
      `10.0.0.${index + 1}`,
      told === undefined && index === 1
        ? silent
        : running({ ...member(index, 3), ...(index === 1 || told?.raised !== undefined ? told : {}) }),
    ]),
  );
  const assessed = assess({ ...observed({ controlPlane: controlPlane(3), facts: known, looks }), ...over });
  const next = withCareEnded(assessed, known, open);
  assert.equal(next.intents.length, next === known ? 1 : 0);
  return next === known ? undefined : next.decisions.at(-1)?.reason;
}

describe("what was begun on a member of etcd", () => {
  const late: Partial<Observed> = { now: NOW + 1 };
  const answered = (at: number, outcome: SentEffect["outcome"] = "answered"): Partial<Observed> => ({
    sent: new Map([["Defragment/demo-10.0.0.2", { at, outcome, detail: "" }]]),
  });
  const gone: Partial<Observed> = { controlPlane: controlPlane(3, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) };
  const [, second] = observed({ controlPlane: controlPlane(3) }).machines;
  assert.ok(second !== undefined);
  const leaves = (look: Look): Partial<Observed> => ({ machines: [], former: [{ declared: second.declared, look }] });
  const cases: readonly (readonly [string, CareIntent["what"], Partial<SeenEtcd> | undefined, string | undefined, Partial<Observed>?])[] = [
    ["is over when its file is smaller", "Defragment", { dbSizeBytes: 999 }, "Defragmented"],
    ["is open while its file is as large", "Defragment", { dbSizeBytes: 1_000 }, undefined],
    [
      "is over when its member answered, though its file is as large",
      "Defragment",
      { dbSizeBytes: 1_000 },
      "NothingGained",
      answered(NOW - 1),
    ],
    [
      "is over when its member answered, though its file has grown",
      "Defragment",
      { dbSizeBytes: 1_001 },
      "NothingGained",
      answered(NOW - 1),
    ],
    ["is open while nobody looked since the answer", "Defragment", { dbSizeBytes: 1_000 }, undefined, answered(NOW)],
    ["is open where the answer was to an earlier one", "Defragment", { dbSizeBytes: 1_000 }, undefined, answered(NOW - 60_001)],
    ["is open where the answer was lost", "Defragment", { dbSizeBytes: 1_000 }, undefined, answered(NOW - 1, "unknown")],
    ["is open where its member answered and is ill", "Defragment", { dbSizeBytes: 1_000, isHealthy: false }, undefined, answered(NOW - 1)],
    ["is open while a member that is ill tells less", "Defragment", { dbSizeBytes: 999, isHealthy: false }, undefined],
    ["is open while it does not answer", "Defragment", undefined, undefined],
    ["is let go after its deadline", "Defragment", undefined, "NotSeen", late],
    [
      "is open after its deadline while what was asked for later may still arrive",
      "Defragment",
      undefined,
      undefined,
      { now: NOW + 599_000, ...answered(NOW - 1_000, "unknown") },
    ],
    [
      "is closed when that can arrive no more",
      "Defragment",
      undefined,
      "NotSeen",
      { now: NOW + 599_001, ...answered(NOW - 1_000, "unknown") },
    ],
    [
      "is closed after its deadline when it was refused",
      "Defragment",
      undefined,
      "NotSeen",
      { ...late, ...answered(NOW - 1_000, "refused") },
    ],
    ["is let go when the cluster goes", "Defragment", undefined, "Gone", gone],
    ["is let go when its machine is nowhere any more", "Defragment", undefined, "Gone", { machines: [] }],
    ["is open while its machine leaves and answers", "Defragment", { dbSizeBytes: 1_000 }, undefined, leaves(running(member(1, 3)))],
    ["is let go when its machine leaves and is silent", "Defragment", { dbSizeBytes: 1_000 }, "Gone", leaves(silent)],
    ["is over when no alarm is told", "DisarmAlarms", {}, "Disarmed"],
    ["is open while an alarm is told", "DisarmAlarms", alarm, undefined],
    ["is let go with its alarm after its deadline", "DisarmAlarms", alarm, "NotSeen", late],
  ];
  for (const [what, kind, told, want, over] of cases) test(what, () => assert.equal(endOf(kind, told, over), want));

  for (const [what, sent, want] of [
    ["nobody asked", undefined, false],
    ["it was asked", { outcome: "answered", at: NOW }, true],
    ["nobody knows what came of it", { outcome: "unknown", at: NOW }, true],
    ["it was refused", { outcome: "refused", at: NOW }, false],
    ["that was under an intent before", { outcome: "answered", at: NOW - 60_001 }, false],
  ] as const)
    test(`is asked for ${want ? "no more" : "again"}, when ${what}`, () => {
      const note: readonly (readonly [string, SentEffect])[] = sent === undefined ? [] : [["Defragment/x", { detail: "", ...sent }]];
      const seen = observed({ sent: new Map(note) });
      assert.equal(wasAsked(seen, "Defragment/x", intent("Defragment")), want);
    });
});

test("a member that was asked to defragment gets ten minutes, and a call that takes alarms back two", () => {
  const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.2")] });
  const file = { machine: "demo-10.0.0.2", address: "10.0.0.2", memberId: "2", leads: false, sizeBytes: 9, inUseBytes: 1, quotaBytes: 10 };
  const begun = (what: CareIntent["what"]): number | undefined =>
    withCare(known, what, file, NOW, { reason: "NoSpace", why: "x" }).intents[0]?.deadline;
  assert.deepEqual([begun("Defragment"), begun("DisarmAlarms")], [NOW + 600_000, NOW + 120_000]);
});
