import assert from "node:assert/strict";
import { test } from "node:test";
import { isNodeOf, nodeOf, seenNode } from "./seen-node.ts";
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

test("a Node is read as far as it tells", () => {
  assert.deepEqual(seenNode({ metadata: { name: "a" } }), { name: "a", uuid: "", addresses: [], isReady: false, isCordonedByUs: false });
});
