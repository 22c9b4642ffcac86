import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventRecorder } from "@talos-operator/kube-runtime";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createTelling } from "./telling.ts";

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

const left = (names: string): string => `Removed ${names} from the cluster.`;

test("machines that do the same within five seconds share an event on what they belong to", async () => {
  const { time, told, telling } = start();
  telling.gather(pool, "MachineRemoved", "b", left);
  telling.gather(pool, "Reconciling", "c", (names) => `Did ${names}.`);
  telling.gather(other, "MachineRemoved", "d", left);
  await time.advance(4_000);
  telling.gather(pool, "MachineRemoved", "a", left);
  telling.gather(pool, "MachineRemoved", "b", left);
  assert.deepEqual(told, []);
  await time.advance(1_000);
  assert.deepEqual(told, [
    "pool Normal MachineRemoved Removed a, b from the cluster.",
    "pool Normal Reconciling Did c.",
    "other Normal MachineRemoved Removed d from the cluster.",
  ]);
  for (let index = 0; index < 1_000; index += 1) telling.gather(pool, "MachineRemoved", `m${index}`, left);
  await telling.close();
  assert.match(told[3] ?? "", / and 980 more from the cluster\.$/, "very many machines are counted");
  assert.deepEqual(told.slice(4), ["closed"]);
  assert.equal(time.pending(), 0);
});

test("the type is the catalogue's", () => {
  const { told, telling } = start();
  telling.tell(pool, "NotReady", "NotReady", "why");
  assert.deepEqual(told, ["pool Warning NotReady why"]);
});
