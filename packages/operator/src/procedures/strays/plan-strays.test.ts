import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { defaultRules } from "../../decide.ts";
import { foresee } from "../../planning/foresee.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import type { EtcdMember } from "../../model/look.ts";
import type { Observed } from "../../model/observation.ts";
import type { World } from "../../testing/builders.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";

const id = (n: number): string => String(n).padStart(16, "0");
const nobodys = (n: number): EtcdMember => ({ id: id(n), name: `x${n}`, isLearner: false, peerUrls: [`https://10.0.0.${n}:2380`] });
const machines = [1, 2, 3].map((n) => configured(`10.0.0.${n}`));
const LATER = 11 * 60_000;

interface Given extends Omit<World, "facts"> {
  readonly strange?: readonly EtcdMember[];
  readonly intents?: readonly IntentFact[];
}

const open: IntentFact = {
  what: "RemoveStray",
  role: "controlplane",
  machine: "demo-10.0.0.1",
  address: "10.0.0.1",
  uuid: "uuid-10.0.0.1",
  memberId: id(9),
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
};

function seenOf({ strange = [nobodys(9)], looks = {}, intents = [], ...over }: Given): Observed {
  const shown = [0, 1, 2].map((index) => {
    const own = member(index, 3);
    return [`10.0.0.${index + 1}`, running({ ...own, members: [...(own.members ?? []), ...strange] }, { at: over.now ?? NOW })] as const;
  });
  const record: ClusterFacts = facts({ bootstrapDone: founded, machines, intents });
  return observed({
    controlPlane: controlPlane(3),
    facts: record,
    looks: { ...Object.fromEntries(shown), ...looks },
    strays: new Set(strange.map((one) => one.id)),
    ...over,
  });
}

/** What is written down, what is sent and what is said. */
function planOf(given: Given): {
  readonly opened: readonly string[];
  readonly sent: readonly string[];
  readonly says: string;
  readonly reason: string | undefined;
} {
  const { straying: step, facts: record } = assess(seenOf(given));
  return {
    opened: (step?.facts.intents ?? []).map(({ machine, memberId }) => `${machine} ${memberId}`),
    sent: (step?.actions ?? []).map((action) => (action.kind === "RemoveStray" ? `${action.machine} ${action.memberId}` : action.kind)),
    says: step?.says ?? "",
    reason: step === undefined || step.facts === record ? undefined : step.facts.decisions.at(-1)?.reason,
  };
}

const through = [`demo-10.0.0.1 ${id(9)}`];

describe("members of etcd that belong to no machine", () => {
  test("are removed through the leader, one at a time, under an intent on it", () => {
    const { opened, sent, reason } = planOf({ strange: [nobodys(8), nobodys(9)].map((one) => ({ ...one, isLearner: one.id === id(8) })) });
    assert.deepEqual([opened, sent, reason], [[`demo-10.0.0.1 ${id(8)}`], [`demo-10.0.0.1 ${id(8)}`], "NobodysMember"]);
  });

  test("are steps of a plan, each by itself, although nobody has seen them for long", () => {
    const strange = [nobodys(8), nobodys(9)].map((one) => ({ ...one, isLearner: one.id === id(8) }));
    const { steps } = foresee(seenOf({ strange, strays: new Set() }), defaultRules);
    const said = steps.filter(({ action }) => action === "RemoveStray").map(({ says }) => says);
    assert.deepEqual(
      said,
      [8, 9].map((n) => `Remove member ${id(n)} of etcd, which belongs to no machine of this cluster, through demo-10.0.0.1.`),
    );
  });

  const waits: readonly (readonly [string, Given, RegExp])[] = [
    ["seen for a moment", { strays: new Set() }, /removed when that is still so in two minutes/],
    ["while too few voters answer", { looks: { "10.0.0.3": silent } }, /^$/],
    ["right after a takeover", { mayDisturb: false }, /just took over.*under way any more$/],
    ["by a word that nobody knows", { unknownMode: "off" }, /says "off", which is no known value/],
    ["through a machine that is paused", { held: new Set(["demo-10.0.0.1"]) }, /is paused by its annotation/],
    [
      "beside another effect",
      { intents: [{ ...open, what: "Reboot", machine: "demo-10.0.0.2" }] },
      /demo-10\.0\.0\.2 is in the middle of an effect \(Reboot\).*shows how that ended$/,
    ],
  ];
  for (const [what, given, says] of waits)
    test(`stay: ${what}`, () => {
      const { sent, says: said, reason } = planOf(given);
      assert.deepEqual([sent, reason], [[], undefined]);
      assert.match(said, says);
    });

  test("are nobody's business while the cluster goes", () => {
    const gone = controlPlane(3, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    assert.deepEqual(planOf({ controlPlane: gone }), { opened: [], sent: [], says: "", reason: undefined });
  });

  const under: readonly (readonly [string, Given, readonly string[], readonly string[], string | undefined])[] = [
    ["goes on", {}, through, through, undefined],
    [
      "is not asked again at once",
      { sent: new Map([[`RemoveStray/${id(9)}`, { at: NOW, outcome: "answered", detail: "" }]]) },
      through,
      [],
      undefined,
    ],
    ["ends when etcd lists it no more", { strange: [] }, [], [], "NotListedByEtcd"],
    [
      "waits where a machine may be it after all",
      { strange: [{ ...nobodys(9), isLearner: true, peerUrls: ["https://10.0.0.3:2380"] }], looks: { "10.0.0.3": silent } },
      through,
      [],
      undefined,
    ],
    ["is asked for no more after its deadline", { now: NOW + 60_001 }, through, [], undefined],
    ["is let go when nothing of it can arrive any more", { now: NOW + LATER }, [], [], "NotSeen"],
    ["is let go even where nobody knows etcd", { now: NOW + LATER, looks: { "10.0.0.2": silent, "10.0.0.3": silent } }, [], [], "NotSeen"],
  ];
  for (const [what, given, opened, sent, reason] of under)
    test(`a removal that was begun ${what}`, () => {
      const plan = planOf({ intents: [open], ...given });
      assert.deepEqual([plan.opened, plan.sent, plan.reason], [opened, sent, reason]);
    });
});
