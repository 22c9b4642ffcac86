import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as check, boolean, nat, property, record, uniqueArray } from "fast-check";
import { planGroup } from "./plan-group.ts";

const free = (): boolean => false;
const cp = (...indexes: readonly (number | string)[]): readonly { readonly name: string; readonly isGoing: boolean }[] =>
  indexes.map((index) => ({ name: `demo-cp-${String(index).replace("!", "")}`, isGoing: String(index).endsWith("!") }));

const cases: readonly {
  readonly name: string;
  readonly replicas: number;
  readonly members: ReturnType<typeof cp>;
  readonly taken?: readonly string[];
  readonly wanted: string;
  readonly leaving?: string;
}[] = [
  { name: "a new group begins at 0 (A032)", replicas: 3, members: [], wanted: "0 1 2" },
  { name: "a group that is complete stays", replicas: 3, members: cp(0, 1, 2), wanted: "0 1 2" },
  { name: "scaling up takes the lowest free indexes", replicas: 5, members: cp(0, 2, 4), wanted: "0 1 2 3 4" },
  { name: "scaling down gives up the highest index first (A103)", replicas: 1, members: cp(0, 1, 2), wanted: "0", leaving: "2 1" },
  { name: "10 is more than 2", replicas: 2, members: cp(0, 2, 10), wanted: "0 2", leaving: "10" },
  {
    name: "one that is being deleted is replaced under another index",
    replicas: 3,
    members: cp(0, "1!", 2),
    wanted: "0 2 3",
    leaving: "1",
  },
  {
    name: "one that is being deleted is not replaced where fewer are wanted",
    replicas: 2,
    members: cp(0, "1!", 2),
    wanted: "0 2",
    leaving: "1",
  },
  { name: "no replicas, no machines", replicas: 0, members: cp(0, 1), wanted: "", leaving: "1 0" },
  { name: "a name with something left of it is not given again", replicas: 2, members: cp(0), taken: ["demo-cp-1"], wanted: "0 2" },
];

for (const { name, replicas, members, taken = [], wanted, leaving = "" } of cases)
  test(`group: ${name}`, () => {
    const plan = planGroup({ prefix: "demo-cp", replicas, members, isTaken: (one) => taken.includes(one) });
    const indexes = (names: readonly string[]): string => names.map((one) => one.slice("demo-cp-".length)).join(" ");
    assert.deepEqual([indexes(plan.wanted), indexes(plan.leaving)], [wanted, leaving]);
  });

test("group: machines that another operator named keep their names (O5)", () => {
  const members = ["id-ctp0", "id-ctp2", "id-ctp10"].map((name) => ({ name, isGoing: false }));
  assert.deepEqual(planGroup({ prefix: "demo-cp", replicas: 4, members, isTaken: free }).wanted, [
    "demo-cp-0",
    "id-ctp0",
    "id-ctp2",
    "id-ctp10",
  ]);
});

test("group: a plan has as many as wanted, no name twice, nobody both wanted and leaving, and stays when it is carried out", () => {
  const member = record({ name: nat(12).map((index) => `g-${index}`), isGoing: boolean() });
  check(
    property(nat(8), uniqueArray(member, { selector: ({ name }) => name, maxLength: 8 }), (replicas, members) => {
      const plan = planGroup({ prefix: "g", replicas, members, isTaken: free });
      assert.equal(plan.wanted.length, replicas);
      assert.equal(new Set([...plan.wanted, ...plan.leaving]).size, plan.wanted.length + plan.leaving.length);
      assert.ok(members.every(({ name }) => plan.wanted.includes(name) || plan.leaving.includes(name)));
      const after = planGroup({ prefix: "g", replicas, members: plan.wanted.map((name) => ({ name, isGoing: false })), isTaken: free });
      assert.deepEqual([after.wanted.toSorted(), after.leaving], [plan.wanted.toSorted(), []]);
    }),
  );
});

test("group: names that are taken are told where new ones had to pass over them, and no others", () => {
  const isTaken = (name: string): boolean => ["demo-cp-0", "demo-cp-1", "demo-cp-7"].includes(name);
  const passedOver = (replicas: number, members: ReturnType<typeof cp>): readonly string[] =>
    planGroup({ prefix: "demo-cp", replicas, members, isTaken }).passedOver;
  assert.deepEqual(passedOver(2, cp(0)), ["demo-cp-1"]);
  assert.deepEqual(passedOver(1, cp(0)), []);
});
