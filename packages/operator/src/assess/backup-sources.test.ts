import assert from "node:assert/strict";
import { test } from "node:test";
import { facts, founded, member, observed, running, silent } from "../testing/builders.ts";
import { backupSources } from "./backup-sources.ts";
import type { Look, SeenEtcd } from "../model/look.ts";

const known = facts({ bootstrapDone: founded });
const one = member(1, 3);
const of = (looks: Readonly<Record<string, Look>>): readonly string[] | undefined =>
  backupSources(known, observed({ facts: known, looks }).machines)?.voters.map(({ machine }) => machine);
const well = { "10.0.0.1": running(member(0, 3)), "10.0.0.2": running(one), "10.0.0.3": running(member(2, 3)) };
const learner = { ...one, members: one.members?.map((two, index) => (index === 1 ? { ...two, isLearner: true } : two)) };

const wrong = (n: number): Partial<SeenEtcd> => ({ alarms: ["x"], raised: [{ member: String(n).padStart(16, "0"), kind: "corrupt" }] });
const full = (n: number): Partial<SeenEtcd> => ({
  alarms: ["NOSPACE"],
  raised: [{ member: String(n).padStart(16, "0"), kind: "no-space" }],
});
const both = (filled: number, corrupt: number): Partial<SeenEtcd> => ({
  alarms: ["NOSPACE", "CORRUPT"],
  raised: [...(full(filled).raised ?? []), ...(wrong(corrupt).raised ?? [])],
});

const cases: readonly { readonly name: string; readonly looks: Readonly<Record<string, Look>>; readonly want: readonly string[] }[] = [
  { name: "the leader comes last", looks: well, want: ["demo-10.0.0.2", "demo-10.0.0.3", "demo-10.0.0.1"] },
  { name: "one that is silent is none", looks: { ...well, "10.0.0.2": silent }, want: ["demo-10.0.0.3", "demo-10.0.0.1"] },
  { name: "a learner is none", looks: { ...well, "10.0.0.2": running(learner) }, want: ["demo-10.0.0.3", "demo-10.0.0.1"] },
  {
    name: "one with an alarm is none",
    looks: { ...well, "10.0.0.2": running({ ...one, alarms: ["CORRUPT"] }) },
    want: ["demo-10.0.0.3", "demo-10.0.0.1"],
  },
  {
    name: "full files hold what was written before they were",
    looks: Object.fromEntries([0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running({ ...member(index, 3), ...full(2) })])),
    want: ["demo-10.0.0.2", "demo-10.0.0.3", "demo-10.0.0.1"],
  },
  {
    name: "one whose data are wrong is none, full or not",
    looks: Object.fromEntries([0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running({ ...member(index, 3), ...both(1, 2) })])),
    want: ["demo-10.0.0.3", "demo-10.0.0.1"],
  },
  {
    name: "one whose data are wrong is none, whoever tells it",
    looks: { ...well, "10.0.0.1": running({ ...member(0, 3), ...wrong(2) }) },
    want: ["demo-10.0.0.3", "demo-10.0.0.1"],
  },
  {
    name: "nobody is, where data differ without a majority",
    looks: Object.fromEntries([0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running({ ...member(index, 3), ...wrong(0) })])),
    want: [],
  },
  {
    name: "one without a leader is none",
    looks: { ...well, "10.0.0.2": running({ ...one, leader: "0000000000000000" }) },
    want: ["demo-10.0.0.3", "demo-10.0.0.1"],
  },
  { name: "one that is not healthy is none", looks: { "10.0.0.2": running({ ...one, isHealthy: false }) }, want: [] },
  { name: "a single voter leads, and is asked", looks: { "10.0.0.1": running(member(0, 1)) }, want: ["demo-10.0.0.1"] },
];
for (const { name, looks, want } of cases) test(`sources of a backup: ${name}`, () => assert.deepEqual(of(looks), want));

test("without etcd there is no source", () => {
  assert.equal(backupSources(facts(), observed().machines), undefined);
  assert.equal(backupSources(undefined, []), undefined);
});
