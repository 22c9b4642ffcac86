import assert from "node:assert/strict";
import { test } from "node:test";
import { CORDON_MARK, isNodeOf, nodeNamedBy, nodeOf, ownersOf, seenNode } from "./seen-node.ts";
import type { NodeObject } from "./kinds.ts";
import { running } from "../testing/builders.ts";
import type { SeenNode } from "../model/workload.ts";

const uuid = "00112233-4455-6677-8899-aabbccddeeff";
const node = (over: Partial<SeenNode> = {}): SeenNode => ({
  name: "a",
  uuid,
  addresses: ["10.0.0.1", "a"],
  isReady: true,
  isCordonedByUs: false,
  ...over,
});

const cases: readonly (readonly [string, Partial<SeenNode>, { uuid: string; address: string }, boolean])[] = [
  ["the same UUID", {}, { uuid, address: "10.0.0.1" }, true],
  ["the same UUID at another address, as after a move", {}, { uuid, address: "10.0.0.7" }, true],
  ["the same UUID in other letters", {}, { uuid: uuid.toUpperCase(), address: "" }, true],
  [
    "the same UUID with the first groups in the other byte order",
    { uuid: "33221100-5544-7766-8899-aabbccddeeff" },
    { uuid, address: "" },
    true,
  ],
  ["another UUID at the same address", { uuid: "ff112233-4455-6677-8899-aabbccddeeff" }, { uuid, address: "10.0.0.1" }, false],
  ["a machine without UUID, by its address", {}, { uuid: "", address: "10.0.0.1" }, true],
  ["a machine without UUID, at another address", {}, { uuid: "", address: "10.0.0.2" }, false],
  [
    "a machine without UUID, at an address that only begins as its own",
    { addresses: ["10.0.0.11"] },
    { uuid: "", address: "10.0.0.1" },
    false,
  ],
  ["a Node without UUID, by its address", { uuid: "" }, { uuid, address: "10.0.0.1" }, true],
  [
    "a UUID that vendors ship by the thousand proves nothing",
    { uuid: "03000200-0400-0500-0006-000700080009" },
    { uuid: "03000200-0400-0500-0006-000700080009", address: "10.0.0.2" },
    false,
  ],
  ["an IPv6 address written in another way", { uuid: "", addresses: ["fd00::1"] }, { uuid: "", address: "fd00:0:0::1" }, true],
];
for (const [title, over, owner, expected] of cases)
  test(`a Node and a machine: ${title}`, () => assert.equal(isNodeOf(node(over), owner), expected));

test("of cloned machines the Node at the address is chosen, or none", () => {
  const clones = [node({ name: "a" }), node({ name: "b", addresses: ["10.0.0.2"] })];
  assert.equal(nodeOf(clones, { uuid, address: "10.0.0.2" })?.name, "b");
  assert.equal(nodeOf(clones, { uuid, address: "10.0.0.3" }), undefined);
});

for (const { what, nodeName, want } of [
  { what: "the one that it names, though another fits better", nodeName: "b", want: "b" },
  { what: "the one that fits, where it names one that is not listed", nodeName: "c", want: "a" },
  { what: "the one that fits, where it names none", nodeName: undefined, want: "a" },
])
  test(`the Node of a machine is ${what}`, () => {
    const listed = [node({ name: "a" }), node({ name: "b", uuid: "", addresses: ["10.0.0.2"] })];
    const look = running(undefined, nodeName === undefined ? {} : { nodeName });
    assert.equal(nodeNamedBy(listed, look, { uuid, address: "10.0.0.1" })?.name, want);
  });

test("a Node is read as far as it tells", () => {
  assert.deepEqual(seenNode({ metadata: { name: "a" } }), {
    name: "a",
    uuid: "",
    addresses: [],
    isReady: false,
    isSchedulable: true,
    isCordonedByUs: false,
  });
});

const taint = (key: string, effect: string): { readonly key: string; readonly effect: string } => ({ key, effect });
const places: readonly (readonly [string, NodeObject, boolean])[] = [
  ["a person's cordon", { spec: { unschedulable: true } }, false],
  ["a cordon of ours", { metadata: { name: "a", annotations: { [CORDON_MARK]: "x" } }, spec: { unschedulable: true } }, true],
  ["the taint of control planes", { spec: { taints: [taint("node-role.kubernetes.io/control-plane", "NoSchedule")] } }, false],
  ["a taint that evicts", { spec: { taints: [taint("example.org/gpu", "NoExecute")] } }, false],
  ["a taint that only advises", { spec: { taints: [taint("example.org/slow", "PreferNoSchedule")] } }, true],
  ["what its conditions say", { spec: { taints: [taint("node.kubernetes.io/not-ready", "NoExecute")] } }, true],
];
for (const [title, one, expected] of places)
  test(`whether pods go to a Node: ${title}`, () => assert.equal(seenNode(one).isSchedulable, expected));

test("Nodes and machines that fit are found as if each were held against each", () => {
  // Few of a kind, so that they share UUIDs and addresses; one in the other byte order, one of a vendor, none.
  const uuids = [uuid, "3a7c1f5f-209d-444c-8a51-3b7f0e6d2c19", uuid.toUpperCase(), "00000000-0000-0000-0000-000000000001", "", "odd"];
  const addresses = ["10.0.0.1", "10.0.0.2", "fd00:0:0::1", "fd00::1"];
  const every = uuids.flatMap((one) => addresses.map((address) => ({ uuid: one, address })));
  const nodes = every.flatMap(({ uuid: one, address }, index) => [
    node({ name: `a-${index}`, uuid: one.toLowerCase(), addresses: [address] }),
    node({ name: `b-${index}`, uuid: one.toLowerCase(), addresses: ["10.0.0.9", address] }),
  ]);
  for (const one of nodes)
    assert.deepEqual(
      ownersOf(every, one),
      every.filter((owner) => isNodeOf(one, owner)),
    );
  for (const owner of every)
    for (const [from, to] of [
      [0, 1],
      [0, 48],
      [5, 9],
      [20, 40],
    ] as const) {
      const some = nodes.slice(from, to);
      const fitting = some.filter((one) => isNodeOf(one, owner));
      const there = fitting.filter((one) => one.addresses.some((address) => isNodeOf({ uuid: "", addresses: [address] }, owner)));
      assert.equal(nodeOf(some, owner), fitting.length === 1 ? fitting[0] : there.length === 1 ? there[0] : undefined);
    }
});
