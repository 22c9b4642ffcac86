import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, preparing, running, silent } from "../testing/builders.ts";
import { controlPlaneSlot } from "./control-plane-slot.ts";
import type { SlotBid, SlotHolder } from "./control-plane-slot.ts";
import { releaseOf, whyHeld } from "./slot-words.ts";
import type { Look, SeenEtcd } from "../model/look.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, IntentFact } from "../model/record.ts";

const name = (n: number): string => `demo-10.0.0.${n}`;
const memberId = (n: number): string => String(n).padStart(16, "0");

function intent(n: number, what: IntentFact["what"] = "Reboot"): IntentFact {
  return { what, role: "controlplane", machine: name(n), address: `10.0.0.${n}`, uuid: "", at: NOW, deadline: NOW, why: "" };
}

interface Given {
  /** What each control plane tells of etcd; `undefined` = it does not answer. */
  readonly etcds?: readonly (SeenEtcd | undefined)[];
  readonly facts?: Partial<ClusterFacts>;
  /** Numbers of machines that left the list. */
  readonly left?: readonly number[];
  readonly draining?: readonly number[];
  readonly mayDisturb?: boolean;
  /** What people say of snapshots before control planes leave; no store is there. */
  readonly riskWord?: string;
  /** Talos that the spec asks for. */
  readonly asks?: string;
  /** What people say of an outage. */
  readonly outage?: string;
  /** How long ago the second was booted to join etcd anew, and whether its Node is ready. Milliseconds. */
  readonly rejoins?: { readonly agoMs: number; readonly isReady: boolean; readonly reason?: string };
}

const three = [member(0, 3), member(1, 3), member(2, 3)];
const joining = three.map((etcd) => ({
  ...etcd,
  members: (etcd.members ?? []).map((one, index) => (index === 2 ? { ...one, isLearner: true } : one)),
}));
const snapshot = { machine: name(2), backup: "default/nightly", deadline: NOW + 60_000 };

function world({ etcds = three, facts: over = {}, left = [], draining = [], mayDisturb = true, riskWord, asks, outage, rejoins }: Given): {
  readonly seen: Observed;
  readonly known: ClusterFacts;
} {
  const known = facts({
    bootstrapDone: founded,
    machines: etcds.map((_, index) => configured(`10.0.0.${index + 1}`)),
    ...(rejoins === undefined
      ? {}
      : {
          decisions: [
            { at: NOW - rejoins.agoMs, action: "CloseReplaceMember", reason: rejoins.reason ?? "Joined", machine: name(2), message: "" },
          ],
        }),
    ...over,
  });
  const looks: Record<string, Look> = Object.fromEntries(
    etcds.map((etcd, index) => [
      `10.0.0.${index + 1}`,
      etcd === undefined ? silent : running(etcd, index === 1 && rejoins?.isReady === false ? { stage: "booting" } : {}),
    ]),
  );
  const drain = { startedAt: NOW, askedAt: NOW, ranMs: 0, unreachableMs: 0, state: undefined };
  const all = observed({
    controlPlane: controlPlane(
      etcds.length,
      asks === undefined ? {} : { version: asks },
      outage === undefined ? {} : { annotations: { [annotations.approveOutage]: outage } },
    ),
    facts: known,
    looks,
    mayDisturb,
    ...(riskWord === undefined ? {} : { riskWord }),
    drains: new Map(draining.map((n) => [name(n), drain])),
  });
  const hasLeft = ({ declared }: Observed["machines"][number]): boolean => left.some((n) => declared.name === name(n));
  return { seen: { ...all, machines: all.machines.filter((one) => !hasLeft(one)), former: all.machines.filter(hasLeft) }, known };
}

function holderOf(given: Given, bid: Partial<SlotBid> = {}): SlotHolder | undefined {
  const { seen, known } = world(given);
  const slot = controlPlaneSlot(assess(seen), known, { machine: name(1), why: "boot", member: memberId(1), ...bid });
  return slot.kind === "granted" ? undefined : slot.holder;
}

const pair = { asks: "v1.13.10", etcds: [member(0, 2), member(1, 2)] } as const;

const approvals: readonly (readonly [string, Given, Partial<SlotBid>, SlotHolder["kind"] | "granted"])[] = [
  ["one of two, for another Talos and with a word for it", { ...pair, outage: "v1.13.10" }, { why: "upgrade" }, "granted"],
  ["one of two, with a word for another Talos", { ...pair, outage: "v1.13.11" }, { why: "upgrade" }, "quorum"],
  ["one of two, with that word for a boot", { ...pair, outage: "v1.13.10" }, {}, "quorum"],
  [
    "one of two with that word, beside one that is ill",
    { ...pair, etcds: [member(0, 2), undefined], outage: "v1.13.10" },
    { why: "upgrade" },
    "etcd",
  ],
  [
    "one of three with that word, beside one that is dead",
    { asks: "v1.13.10", etcds: [three[0], three[1], undefined], outage: "v1.13.10" },
    { why: "upgrade" },
    "quorum",
  ],
];

const alarmed = (kind: "no-space" | "corrupt", of: string): readonly SeenEtcd[] =>
  [member(0, 3), member(1, 3)].map((etcd) => ({ ...etcd, alarms: ["x"], raised: [{ kind, member: of }] }));
const full = (count: number, kind: "no-space" | "corrupt" = "no-space"): readonly SeenEtcd[] =>
  Array.from({ length: count }, (_, index) => ({ ...member(index, count), alarms: ["x"], raised: [{ kind, member: memberId(1) }] }));
const dead = { machine: name(3), member: memberId(3), why: "replace" } as const;

const alarms: readonly (readonly [string, Given, Partial<SlotBid>, SlotHolder["kind"] | "granted"])[] = [
  ["a dead one while etcd is full", { etcds: [...alarmed("no-space", memberId(1)), undefined] }, dead, "granted"],
  ["a dead one while data of one that is gone were wrong", { etcds: [...alarmed("corrupt", memberId(9)), undefined] }, dead, "etcd"],
  ["one for a boot while etcd is full", { etcds: alarmed("no-space", memberId(1)) }, {}, "etcd"],
  ["one for a larger quota while etcd is full", { etcds: full(3) }, { why: "enlarge" }, "granted"],
  ["one for a larger quota beside one that is dead", { etcds: [...full(3).slice(0, 2), undefined] }, { why: "enlarge" }, "quorum"],
  ["one of two for a larger quota", { etcds: full(2) }, { why: "enlarge" }, "quorum"],
  ["the only one for a larger quota", { etcds: full(1) }, { why: "enlarge" }, "granted"],
  ["one for a larger quota while data differ", { etcds: full(3, "corrupt") }, { why: "enlarge" }, "etcd"],
  [
    "one for a larger quota while data of one that is gone were wrong",
    { etcds: alarmed("corrupt", memberId(9)) },
    { why: "enlarge" },
    "etcd",
  ],
  ["one for a larger quota while another is drained for a boot", { etcds: full(3), draining: [2] }, { why: "enlarge" }, "granted"],
  [
    "one for a larger quota beside one that joins anew",
    { etcds: full(3), rejoins: { agoMs: 30_000, isReady: false } },
    { why: "enlarge" },
    "effect",
  ],
];

const rejoining: readonly (readonly [string, Given, Partial<SlotBid>, SlotHolder["kind"] | "granted"])[] = [
  ["one beside another that joins etcd anew and boots", { rejoins: { agoMs: 30_000, isReady: false } }, {}, "effect"],
  ["another Talos beside it", { rejoins: { agoMs: 30_000, isReady: false } }, { why: "upgrade" }, "effect"],
  ["a dead one beside it", { rejoins: { agoMs: 30_000, isReady: false } }, { why: "replace" }, "granted"],
  ["that one itself", { rejoins: { agoMs: 30_000, isReady: false } }, { machine: name(2), member: memberId(2) }, "granted"],
  ["one beside another that is back", { rejoins: { agoMs: 30_000, isReady: true } }, {}, "granted"],
  ["one beside another that did not join anew", { rejoins: { agoMs: 30_000, isReady: false, reason: "NotBack" } }, {}, "granted"],
  ["one beside another that never came back", { rejoins: { agoMs: 21 * 60_000, isReady: false } }, {}, "granted"],
];

const cases: readonly (readonly [string, Given, Partial<SlotBid>, SlotHolder["kind"] | "granted"])[] = [
  ["one of three healthy ones", {}, {}, "granted"],
  ["one while another is dead", { etcds: [three[0], three[1], undefined] }, {}, "quorum"],
  ["the dead one itself", { etcds: [three[0], three[1], undefined] }, { machine: name(3), member: memberId(3), why: "replace" }, "granted"],
  ["one that leaves while another is dead", { etcds: [three[0], three[1], undefined] }, { why: "remove" }, "quorum"],
  ["the only one, for a boot", { etcds: [member(0, 1)] }, {}, "granted"],
  ["the only one, to leave", { etcds: [member(0, 1)] }, { why: "remove" }, "quorum"],
  ["one of two, for a boot", { etcds: [member(0, 2), member(1, 2)] }, {}, "quorum"],
  ["one of two, to leave", { etcds: [member(0, 2), member(1, 2)] }, { why: "remove" }, "granted"],
  ["one before etcd is bootstrapped", { etcds: [preparing, preparing], facts: { bootstrapDone: undefined } }, {}, "founding"],
  [
    "one that is known to hold no data then, to leave",
    { etcds: [preparing, preparing], facts: { bootstrapDone: undefined } },
    { why: "remove", member: "none" },
    "granted",
  ],
  ["one that may hold data then, to leave", { etcds: [preparing], facts: { bootstrapDone: undefined } }, { why: "remove" }, "founding"],
  ["one of which nobody knows its member", {}, { member: undefined }, "unreported"],
  ["one of which nobody knows its member, to leave", {}, { member: undefined, why: "remove" }, "unreported"],
  ["one while another joins", { etcds: joining }, {}, "etcd"],
  ["one that leaves while another joins", { etcds: joining }, { why: "remove" }, "etcd"],
  ["the learner itself, to leave", { etcds: joining }, { machine: name(3), why: "remove", member: memberId(3) }, "granted"],
  ["a dead one beside one that joins", { etcds: joining }, { why: "replace" }, "granted"],
  ["one while nobody tells of etcd", { etcds: [undefined, undefined, undefined] }, { why: "remove" }, "etcd"],
  ["one just after the leader changed", { mayDisturb: false }, {}, "takeover"],
  ["one when the cluster goes just after the leader changed", { mayDisturb: false }, { why: "delete" }, "takeover"],
  ["one while another is in the middle of an effect", { facts: { intents: [intent(2)] } }, {}, "effect"],
  ["one while an effect on it is open", { facts: { intents: [intent(1)] } }, {}, "effect"],
  ["one under its own intent", { facts: { intents: [intent(1)] } }, { under: intent(1) }, "granted"],
  ["one under another's intent", { facts: { intents: [intent(2)] } }, { under: intent(1) }, "effect"],
  ["one under an intent of another kind", { facts: { intents: [intent(1, "Reset")] } }, { under: intent(1) }, "effect"],
  [
    "one under its intent while another has died since",
    { etcds: [three[0], three[1], undefined], facts: { intents: [intent(1)] } },
    { under: intent(1) },
    "quorum",
  ],
  ["one while a worker is in the middle of an effect", { facts: { intents: [{ ...intent(2), role: "worker" }] } }, {}, "granted"],
  ["one while a snapshot is taken", { facts: { snapshot } }, {}, "snapshot"],
  ["one under its intent while a snapshot is taken", { facts: { snapshot, intents: [intent(1)] } }, { under: intent(1) }, "snapshot"],
  ["one when the cluster goes while a snapshot is taken", { facts: { snapshot } }, { why: "delete" }, "snapshot"],
  ["one after the time of a snapshot", { facts: { snapshot: { ...snapshot, deadline: NOW } } }, {}, "granted"],
  ["one of a cluster that goes, whatever becomes of etcd", { etcds: [three[0], three[1], undefined] }, { why: "delete" }, "granted"],
  ["one while another is drained for a boot", { draining: [2] }, {}, "drain"],
  ["one while it is drained itself", { draining: [1] }, {}, "granted"],
  ["the first of two that are drained", { draining: [1, 2] }, {}, "granted"],
  ["the second of two that are drained", { draining: [1, 2] }, { machine: name(2), member: memberId(2) }, "drain"],
  ["one that leaves while another is drained for a boot", { draining: [2], left: [1] }, { why: "remove" }, "granted"],
  ["one for a boot while one that leaves is drained", { draining: [2], left: [2] }, {}, "drain"],
  ["one that leaves while another that leaves is drained", { draining: [2], left: [1, 2] }, { why: "remove" }, "drain"],
  ["a dead one while one that leaves is drained", { draining: [2], left: [2] }, { why: "replace" }, "granted"],
  [
    "one while a dead one counts as drained",
    { etcds: [member(0, 5), undefined, member(2, 5), member(3, 5), member(4, 5)], draining: [2] },
    {},
    "granted",
  ],
  ["one that leaves, without a store for a snapshot", { left: [1] }, { why: "remove" }, "granted"],
  ["one that leaves before a snapshot that is required", { left: [1], riskWord: "required" }, { why: "remove" }, "before-risk"],
  ["one that leaves where no snapshot is wanted", { left: [1], riskWord: "off" }, { why: "remove" }, "granted"],
  [
    "one under its intent, whatever is required",
    { left: [1], riskWord: "required", facts: { intents: [intent(1, "Reset")] } },
    { why: "remove", under: intent(1, "Reset") },
    "granted",
  ],
  ["one for another Talos, without a store for a snapshot", { asks: "v1.13.10" }, { why: "upgrade" }, "granted"],
  [
    "one for another Talos before a snapshot that is required",
    { asks: "v1.13.10", riskWord: "required" },
    { why: "upgrade" },
    "before-risk",
  ],
  [
    "one that boots another Talos under its intent, whatever is required",
    { asks: "v1.13.10", riskWord: "required", facts: { intents: [intent(1)] } },
    { why: "upgrade", under: intent(1) },
    "granted",
  ],
  [
    "one for another Talos while another is dead",
    { asks: "v1.13.10", etcds: [three[0], three[1], undefined] },
    { why: "upgrade" },
    "quorum",
  ],
  ...approvals,
  ...rejoining,
  ...alarms,
  ["one of two, for another Talos", { asks: "v1.13.10", etcds: [member(0, 2), member(1, 2)] }, { why: "upgrade" }, "quorum"],
  ["a dead one, whatever is required", { left: [1], riskWord: "required" }, { why: "replace" }, "granted"],
  [
    "one for a boot, whatever is required of those that leave",
    { left: [1], riskWord: "required" },
    { machine: name(2), member: memberId(2) },
    "granted",
  ],
  ["one of a cluster that goes, whatever is required", { left: [1], riskWord: "required" }, { why: "delete" }, "granted"],
  [
    "a learner that leaves, whatever is required",
    { left: [1, 3], riskWord: "required", etcds: joining },
    { machine: name(3), why: "remove", member: memberId(3) },
    "granted",
  ],
  [
    "one without quorum to spare before a snapshot",
    { left: [1], riskWord: "required", etcds: [three[0], three[1], undefined] },
    { why: "remove" },
    "quorum",
  ],
  ["one under its intent while another is drained", { draining: [2], facts: { intents: [intent(1)] } }, { under: intent(1) }, "granted"],
];

describe("the place for a disturbed control plane", () => {
  for (const [what, given, bid, want] of cases)
    test(`${want === "granted" ? "is given to" : `is kept (${want}) from`} ${what}`, () => {
      assert.equal(holderOf(given, bid)?.kind ?? "granted", want);
    });

  test("says who holds it and what releases it, whoever that is", () => {
    const holders = cases.flatMap(([, given, bid]) => holderOf(given, bid) ?? []);
    assert.equal(new Set(holders.map(({ kind }) => kind)).size, 9);
    for (const holder of holders) {
      assert.match(whyHeld(holder), /^[^.].*[^.]$/);
      assert.match(releaseOf(holder), /^[A-Z].*\.$/);
    }
    assert.equal(whyHeld({ kind: "effect", machine: name(2), what: "Reboot" }), "demo-10.0.0.2 is in the middle of an effect (Reboot)");
  });
});
