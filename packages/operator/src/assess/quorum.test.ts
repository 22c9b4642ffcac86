import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as check, boolean, constantFrom, integer, property, record } from "fast-check";
import { controlPlane, facts, founded, member, NOW, observed, preparing, running, silent } from "../testing/builders.ts";
import { etcdQuorum, projectWithout } from "./quorum.ts";
import type { Look, SeenEtcd } from "../model/look.ts";
import type { EtcdDoubtCode, EtcdQuorum } from "../model/etcd.ts";

const done = facts({ bootstrapDone: founded });

function looksOf(...etcds: readonly (SeenEtcd | undefined)[]): Record<string, Look> {
  return Object.fromEntries(etcds.map((etcd, index) => [`10.0.0.${index + 1}`, etcd === undefined ? silent : running(etcd)]));
}

function viewOf(...etcds: readonly (SeenEtcd | undefined)[]): ReturnType<typeof etcdQuorum> {
  return etcdQuorum(observed({ controlPlane: controlPlane(etcds.length), facts: done, looks: looksOf(...etcds) }));
}

const [one, two, three] = [member(0, 3), member(1, 3), member(2, 3)];
const learnerList = (etcd: SeenEtcd): SeenEtcd => ({
  ...etcd,
  members: (etcd.members ?? []).map((listed, index) => (index === 2 ? { ...listed, isLearner: true } : listed)),
});
const unnamed = (etcd: SeenEtcd): SeenEtcd => ({
  ...etcd,
  members: (etcd.members ?? []).map((listed, index) => (index === 2 ? { ...listed, name: "" } : listed)),
});
const doubled = (etcd: SeenEtcd): SeenEtcd => ({ ...etcd, members: [...(etcd.members ?? []), ...(etcd.members ?? []).slice(0, 1)] });

const doubts: readonly { readonly name: string; readonly etcds: readonly (SeenEtcd | undefined)[]; readonly want: EtcdDoubtCode }[] = [
  { name: "nobody answers", etcds: [undefined, undefined, undefined], want: "no-answer" },
  { name: "nobody has etcd", etcds: [preparing, preparing, preparing], want: "no-answer" },
  { name: "one of three answers", etcds: [one, undefined, undefined], want: "no-quorum" },
  { name: "one of two answers", etcds: [member(0, 2), undefined], want: "no-quorum" },
  { name: "two of four answer", etcds: [member(0, 4), member(1, 4), undefined, undefined], want: "no-quorum" },
  { name: "two answer, and one of them is ill", etcds: [one, { ...two, isHealthy: false }, undefined], want: "no-quorum" },
  { name: "two machines show one member", etcds: [one, one, three], want: "twins" },
  { name: "the lists differ", etcds: [one, two, { ...member(2, 4), leader: one.leader }], want: "differing" },
  {
    name: "the list is empty",
    etcds: [
      { ...one, members: [] },
      { ...two, members: [] },
      { ...three, members: [] },
    ],
    want: "malformed",
  },
  { name: "an id is listed twice", etcds: [doubled(one), doubled(two), doubled(three)], want: "malformed" },
  { name: "a machine has a member that nobody lists", etcds: [one, two, { ...three, localMember: "00000000000000ff" }], want: "stranger" },
  { name: "a healthy member knows no leader", etcds: [one, two, { ...three, leader: "0" }], want: "leaderless" },
  { name: "a healthy member tells no leader", etcds: [one, two, { ...three, leader: undefined }], want: "leaderless" },
  { name: "the leader is nobody in the list", etcds: [one, two, { ...three, leader: "00000000000000ff" }], want: "leaderless" },
  { name: "two leaders are named", etcds: [one, two, { ...three, leader: "0000000000000002" }], want: "two-leaders" },
  { name: "a member raises an alarm", etcds: [one, two, { ...three, alarms: ["NOSPACE"] }], want: "alarm" },
  { name: "a member is a learner", etcds: [learnerList(one), learnerList(two), preparing], want: "joining" },
  { name: "a member never started", etcds: [unnamed(one), unnamed(two), preparing], want: "joining" },
];
for (const { name, etcds, want } of doubts) {
  test(`nothing is known of etcd when ${name}`, () => {
    const view = viewOf(...etcds);
    assert.equal(view.kind, "unsafe");
    assert.equal(view.kind === "unsafe" ? view.code : "", want);
  });
}

test("a look from before the last round says nothing", () => {
  const looks = looksOf(one, two, three);
  const old = Object.fromEntries(Object.entries(looks).map(([address, look]) => [address, { ...look, at: NOW - 76_000 }]));
  assert.equal(etcdQuorum(observed({ facts: done, looks })).kind, "known");
  assert.equal(etcdQuorum(observed({ facts: done, looks: old })).kind, "unsafe");
});

test("a machine that reboots is no healthy voter, whatever its etcd says", () => {
  const looks = { ...looksOf(one, two, three), "10.0.0.3": running(three, { stage: "rebooting" }) };
  const view = etcdQuorum(observed({ facts: done, looks }));
  assert.ok(view.kind === "known");
  assert.deepEqual([view.healthy, view.needed], [2, 2]);
});

test("a voter that is silent, or ill without a leader, does not hide the quorum of the others", () => {
  for (const third of [undefined, { ...three, isHealthy: false, leader: "0" }]) {
    const view = viewOf(one, two, third);
    assert.ok(view.kind === "known", JSON.stringify(view));
    assert.deepEqual([view.healthy, view.needed, view.leader], [2, 2, "0000000000000001"]);
  }
});

function view(voters: number, healthy: number): EtcdQuorum {
  const all = Array.from({ length: voters }, (_, n) => ({ id: `m${n}`, name: `n${n}`, machine: `cp-${n}`, isHealthy: n < healthy }));
  return { kind: "known", members: [], voters: all, learners: [], leader: "m0", healthy, needed: Math.floor(voters / 2) + 1 };
}

const projections: readonly {
  readonly name: string;
  readonly voters: number;
  readonly healthy: number;
  readonly target: string;
  readonly leaves: boolean;
  readonly isDown: boolean;
}[] = [
  { name: "one of three", voters: 3, healthy: 3, target: "m1", leaves: true, isDown: true },
  { name: "a healthy one of three with one dead", voters: 3, healthy: 2, target: "m1", leaves: false, isDown: false },
  { name: "the dead one of three", voters: 3, healthy: 2, target: "m2", leaves: true, isDown: true },
  { name: "one of five with one dead", voters: 5, healthy: 4, target: "m0", leaves: true, isDown: true },
  { name: "one of five with two dead", voters: 5, healthy: 3, target: "m0", leaves: false, isDown: false },
  { name: "one of four", voters: 4, healthy: 4, target: "m0", leaves: true, isDown: true },
  { name: "a healthy one of four with one dead", voters: 4, healthy: 3, target: "m0", leaves: false, isDown: false },
  { name: "one of two", voters: 2, healthy: 2, target: "m1", leaves: true, isDown: false },
  { name: "the healthy one of two", voters: 2, healthy: 1, target: "m0", leaves: false, isDown: false },
  { name: "the only one", voters: 1, healthy: 1, target: "m0", leaves: false, isDown: false },
  { name: "no voter", voters: 3, healthy: 2, target: "learner", leaves: true, isDown: true },
];
for (const { name, voters, healthy, target, leaves, isDown } of projections) {
  test(`${name} ${leaves ? "may" : "must not"} leave and ${isDown ? "may" : "must not"} be down`, () => {
    assert.equal(projectWithout(view(voters, healthy), target, "leaves").isSafe, leaves);
    assert.equal(projectWithout(view(voters, healthy), target, "is-down").isSafe, isDown);
  });
}

test("whatever is allowed leaves a majority of healthy voters, of those before and of those after", () => {
  const input = record({
    voters: integer({ min: 1, max: 9 }),
    dead: integer({ min: 0, max: 4 }),
    target: integer({ min: 0, max: 8 }),
    how: constantFrom("leaves", "is-down"),
  });
  let allowed = 0;
  check(
    property(input, ({ voters, dead, target, how }) => {
      const healthy = Math.max(0, voters - dead);
      const before = view(voters, healthy);
      const { isSafe } = projectWithout(before, `m${target}`, how);
      if (!isSafe || target >= voters) return;
      allowed += 1;
      const left = healthy - (target < healthy ? 1 : 0);
      assert.ok(left > (voters - 1) / 2, "of those that stay");
      assert.ok(left > voters / 2 || (voters === 2 && how === "leaves" && left === 1), "of those before");
    }),
  );
  assert.ok(allowed > 5, `${allowed} were allowed`);
});

test("what etcd says does not depend on the order of its members or of the answers", () => {
  check(
    property(boolean(), boolean(), (reverseList, reverseAnswers) => {
      const turned = (etcd: SeenEtcd): SeenEtcd => (reverseList ? { ...etcd, members: (etcd.members ?? []).toReversed() } : etcd);
      const etcds = [one, turned(two), three];
      const known = viewOf(...(reverseAnswers ? etcds.toReversed() : etcds));
      assert.ok(known.kind === "known");
      assert.deepEqual([known.healthy, known.needed, known.leader], [3, 2, "0000000000000001"]);
    }),
  );
});
