import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  configured,
  controlPlane,
  facts,
  founded,
  inMaintenance,
  member,
  observed,
  preparing,
  running,
  silent,
} from "../testing/builders.ts";
import { etcdMembership } from "./quorum.ts";
import { strayMembers } from "./stray-members.ts";
import type { EtcdMember, Look } from "../model/look.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";

const id = (n: number): string => String(n).padStart(16, "0");
const nobodys: EtcdMember = { id: id(9), name: "x", isLearner: false, peerUrls: ["https://10.0.0.9:2380"] };
const machines = [1, 2, 3].map((n) => configured(`10.0.0.${n}`));

interface Case {
  /** Declared control planes; default three. */
  readonly count?: 3 | 5;
  /** The member in question; default one of another address. */
  readonly stranger?: Partial<EtcdMember>;
  /** What machines show beside the members of the first three. */
  readonly looks?: Readonly<Record<string, Look>>;
  readonly known?: readonly MachineFact[];
  readonly facts?: Partial<ClusterFacts>;
  readonly installed?: readonly { readonly name: string; readonly role: "controlplane"; readonly address: string }[];
}

/** `stray`, `kept by NAME`, `forgotten`, or `none` where the member counts as somebody's. */
function verdictOf({ count = 3, stranger = {}, looks = {}, known = machines, facts: over = {}, installed }: Case): string {
  const listed = { ...nobodys, ...stranger };
  const all = [0, 1, 2].map((index) => {
    const own = member(index, 3);
    return [`10.0.0.${index + 1}`, running({ ...own, members: [...(own.members ?? []), listed] })] as const;
  });
  const record = facts({ bootstrapDone: founded, machines: known, ...over });
  const seen = observed({
    controlPlane: controlPlane(count),
    facts: record,
    looks: { ...Object.fromEntries(all), ...looks },
    ...(installed === undefined ? {} : { installed }),
  });
  const view = etcdMembership(seen);
  assert.ok(view.kind === "known", view.kind === "unsafe" ? view.message : "");
  const [found, ...more] = strayMembers(seen, record, view);
  assert.deepEqual(more, []);
  if (found === undefined) return "none";
  assert.equal(found.member.id, listed.id);
  return found.mayBeOf === undefined ? (found.isForgotten === true ? "forgotten" : "stray") : `kept by ${found.mayBeOf}`;
}

const fourth = configured("10.0.0.4", "controlplane", "demo", { memberId: id(4) });
const unknownMember = ({ memberId: _memberId, ...rest }: MachineFact): MachineFact => rest;
const waiting = { "10.0.0.4": inMaintenance("10.0.0.4"), "10.0.0.5": inMaintenance("10.0.0.5") };
const list5 = { count: 5 } as const;

const cases: readonly (readonly [string, Case, string])[] = [
  ["a member of no address that is known", {}, "stray"],
  ["one without a vote", { stranger: { isLearner: true } }, "stray"],
  ["one that never started", { stranger: { name: "" } }, "stray"],
  ["one of the name of a machine that shows another member", { stranger: { name: "cp-3" } }, "stray"],
  ["one at the address of a machine that shows another member", { stranger: { peerUrls: ["https://10.0.0.3:2380"] } }, "stray"],
  [
    "the member that a machine had before the one it shows",
    { known: machines.map((fact, index) => (index === 2 ? { ...fact, memberId: id(9) } : fact)) },
    "stray",
  ],
  ["beside machines that wait to be configured", { ...list5, looks: waiting }, "stray"],
  [
    "at the address of one that waits to be configured",
    { ...list5, looks: waiting, stranger: { peerUrls: ["https://10.0.0.4:2380"] } },
    "kept by demo-10.0.0.4",
  ],
  [
    "at the address that one which waits to be configured had before",
    { ...list5, looks: waiting, known: [...machines, { ...unknownMember(fourth), address: "10.0.0.9" }] },
    "kept by demo-10.0.0.4",
  ],
  ["beside one that is silent and that nobody knows", { ...list5, looks: { ...waiting, "10.0.0.5": silent } }, "kept by demo-10.0.0.5"],
  [
    "beside one that is silent, and was never seen as a member",
    { ...list5, looks: { ...waiting, "10.0.0.4": silent }, known: [...machines, unknownMember(fourth)] },
    "kept by demo-10.0.0.4",
  ],
  [
    "beside one that is silent, and whose own member has left the list",
    { ...list5, looks: { ...waiting, "10.0.0.4": silent }, known: [...machines, fourth] },
    "kept by demo-10.0.0.4",
  ],
  [
    "the member of one that is silent",
    { ...list5, looks: { ...waiting, "10.0.0.4": silent }, known: [...machines, { ...fourth, memberId: id(9) }] },
    "none",
  ],
  ["the member of one that was released", { known: [...machines, { ...fourth, memberId: id(9), releasedAt: 1 }] }, "none"],
  [
    "a learner beside one that is on its way into etcd",
    { ...list5, looks: { ...waiting, "10.0.0.4": running(preparing) }, stranger: { isLearner: true, name: "" } },
    "kept by demo-10.0.0.4",
  ],
  ["a voter beside one that is on its way into etcd", { ...list5, looks: { ...waiting, "10.0.0.4": running(preparing) } }, "stray"],
  [
    "at the address of a machine that another object tells of",
    { installed: [{ name: "demo-cp-9", role: "controlplane", address: "10.0.0.9" }] },
    "kept by demo-cp-9",
  ],
  ["after the record was lost", { facts: { bundle: { secretName: "b", fingerprint: "fingerprint", wasFound: true } } }, "forgotten"],
];

describe("a member of etcd that no machine shows", () => {
  for (const [what, given, want] of cases) test(`${what}: ${want}`, () => assert.equal(verdictOf(given), want));

  test("is no stray by a list of machines that is empty", () => {
    const seen = observed({ facts: facts({ bootstrapDone: founded, machines }), looks: { "10.0.0.1": running(member(0, 1)) } });
    const view = etcdMembership(seen);
    assert.ok(view.kind === "known");
    const strange = { ...view, members: [...view.members, nobodys] };
    assert.equal(strayMembers({ ...seen, machines: [], former: seen.machines }, facts({ machines }), strange).length, 0);
  });
});
