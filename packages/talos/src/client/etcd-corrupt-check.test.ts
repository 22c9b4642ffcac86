import assert from "node:assert/strict";
import { test } from "node:test";
import { etcdComparesWithLeader } from "./etcd-corrupt-check.ts";

for (const [what, given, want] of [
  ["nothing", {}, false],
  ["no time", { "corrupt-check-time": ["0s"] }, false],
  ["no time, without a unit", { "corrupt-check-time": ["0"] }, false],
  ["a time", { "corrupt-check-time": ["10m"] }, true],
  ["a time by the older name", { "experimental-corrupt-check-time": ["10m"] }, true],
  ["the last of two", { "corrupt-check-time": ["0s", "10m"] }, true],
  ["what etcd would refuse", { "corrupt-check-time": [""] }, true],
] as const)
  test(`an etcd compares its members with the leader where its arguments say ${what}: ${want}`, () =>
    assert.equal(etcdComparesWithLeader(given), want));
