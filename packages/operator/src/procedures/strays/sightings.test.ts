import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { Sightings } from "./sightings.ts";

const MINUTE = 60_000;

test("a member is nobody's for long when it was two minutes ago and in every pass since that could tell", async () => {
  const time = createVirtualTime();
  const sightings = new Sightings(time.timers);
  sightings.saw(["a"]);
  await time.advance(MINUTE);
  sightings.saw(["a", "b"]);
  assert.deepEqual([[...sightings.long()], sightings.count], [[], 2]);
  await time.advance(MINUTE);
  // Nobody could tell: what was seen before stands.
  sightings.saw(undefined);
  assert.deepEqual([...sightings.long()], ["a"]);
  sightings.saw(["b"]);
  sightings.saw(["a", "b"]);
  assert.deepEqual([...sightings.long()], []);
  await time.advance(MINUTE);
  assert.deepEqual([...sightings.long()], ["b"]);
  await time.advance(MINUTE);
  assert.deepEqual([...sightings.long()].toSorted(), ["a", "b"]);
});

test("what was seen is forgotten with the session", async () => {
  const time = createVirtualTime();
  const sightings = new Sightings(time.timers);
  sightings.saw(["c"]);
  sightings.close();
  await time.advance(10 * MINUTE);
  assert.deepEqual([[...sightings.long()], sightings.count], [[], 0]);
});
