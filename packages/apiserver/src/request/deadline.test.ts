import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock, systemTimers, threadWorkedMs } from "@talos-operator/adapters";
import { FakeTime } from "../testing/fake-time.ts";
import { startMemoryServer } from "../testing/memory-server.ts";

const large = { metadata: { name: "large" }, data: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, "v"])) };
/** An hour passes between two looks. */
function inHours(): () => number {
  let now = 0;
  return () => (now += 3_600_000);
}

describe("the deadline of a request", () => {
  it("is of the time that the thread works: a busy machine, or a clock that is set, refuses nobody", async () => {
    const time = new FakeTime();
    const clock = { now: inHours() };
    const busy = await startMemoryServer({ clock, timers: time, workedMs: () => 0 });
    const applied = { apiVersion: "v1", kind: "ConfigMap", ...large };
    const answer = await busy.world.patch(busy.world.core("configmaps", "large"), "apply", applied, { fieldManager: "x" });
    assert.equal(answer.status, 201, JSON.stringify(answer.body).slice(0, 200));
  });

  it("ends a request that works for longer, and stores nothing", async () => {
    const { world } = await startMemoryServer({ workedMs: inHours() });
    const applied = { apiVersion: "v1", kind: "ConfigMap", ...large };
    const answer = await world.patch(world.core("configmaps", "large"), "apply", applied, { fieldManager: "x" });
    assert.equal(answer.status, 504);
    assert.equal((await world.get(world.core("configmaps", "large"))).status, 404);
  });

  it("counts no time in which the thread waits", async () => {
    const [worked, began] = [threadWorkedMs(), systemClock.now()];
    await systemTimers.sleep(200);
    // Whatever else runs here meanwhile, it is less than all the time.
    assert.ok(threadWorkedMs() >= worked && threadWorkedMs() - worked < systemClock.now() - began);
  });
});
