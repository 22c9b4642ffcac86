import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventRecorder } from "@talos-operator/kube-runtime";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createTelling, wordsFor } from "./telling.ts";

function start() {
  const time = createVirtualTime();
  const told: string[] = [];
  const recorder: EventRecorder = {
    dropped: 0,
    record: (regarding, { type, reason, note }) => void told.push(`${regarding.metadata?.name ?? ""} ${type} ${reason} ${note}`),
    flush: async () => undefined,
    close: async () => void told.push("closed"),
  };
  return { time, told, telling: createTelling(recorder, time.timers) };
}

const pool = { metadata: { name: "pool", uid: "u1" } };
const other = { metadata: { name: "other", uid: "u2" } };

test("machines that do the same within five seconds share an event on what they belong to", async () => {
  const { time, told, telling } = start();
  telling.gather(pool, "MachineJoined", "b");
  telling.gather(pool, "MachineRebooted", "c");
  telling.gather(other, "MachineJoined", "d");
  await time.advance(4_000);
  telling.gather(pool, "MachineJoined", "a");
  telling.gather(pool, "MachineJoined", "b");
  assert.deepEqual(told, []);
  await time.advance(1_000);
  assert.deepEqual(told, [
    "pool Normal MachineJoined a, b joined the cluster.",
    "pool Normal MachineRebooted c rebooted.",
    "other Normal MachineJoined d joined the cluster.",
  ]);
  telling.gather(pool, "MachineJoined", "e");
  await telling.close();
  assert.deepEqual(told.slice(3), ["pool Normal MachineJoined e joined the cluster.", "closed"]);
  assert.equal(time.pending(), 0);
});

test("the type is the catalogue's, and very many machines are counted", () => {
  const { told, telling } = start();
  telling.tell(pool, "NotReady", "NotReady", "why");
  assert.deepEqual(told, ["pool Warning NotReady why"]);
  assert.match(
    wordsFor(
      "MachineJoined",
      Array.from({ length: 1_000 }, (_, index) => `m${index}`),
    ),
    / and 980 more joined the cluster\.$/,
  );
});
