import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedTransport, createSeededRandom, createVirtualTime } from "../testing/index.ts";
import { createFlowGate } from "./flow-control.ts";
import { createKubeClient } from "./kube-client.ts";

describe("flow control", () => {
  it("lets a burst through, then so many a second, in order", async () => {
    const time = createVirtualTime();
    const gate = createFlowGate(time.timers, { perSecond: 10, burst: 3 });
    const begin = time.now();
    const passed: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) void gate.enter(undefined).then(() => passed.push(`${name} ${time.now() - begin}`));
    await time.advance(10_000);
    assert.deepEqual(passed, ["a 0", "b 0", "c 0", "d 100", "e 200"]);
    assert.equal(time.pending(), 0, "a full bucket needs no timer");
    await Promise.all([1, 2, 3].map(() => gate.enter(undefined)));
    await time.advance(10_000);
  });

  it("lets go of a caller that gives up, without losing its token", async () => {
    const time = createVirtualTime();
    const gate = createFlowGate(time.timers, { perSecond: 1, burst: 1 });
    await gate.enter(undefined);
    const abort = new AbortController();
    const givenUp = assert.rejects(gate.enter(abort.signal), /enough/);
    abort.abort(new Error("enough"));
    await givenUp;
    let hasPassed = false;
    void gate.enter(undefined).then(() => (hasPassed = true));
    await time.advance(1_000);
    assert.ok(hasPassed);
    await time.advance(10_000);
  });

  it("is off unless a client asks for it", async () => {
    const time = createVirtualTime();
    const ports = { timers: time.timers, random: createSeededRandom(1) };
    const answer = () => ({ status: 200, body: { kind: "Status" } });
    const free = createKubeClient(createScriptedTransport(answer), ports);
    await Promise.all(Array.from({ length: 100 }, () => free.send({ method: "GET", path: "/readyz" })));
    const limited = createKubeClient(createScriptedTransport(answer), { ...ports, flowControl: { perSecond: 5, burst: 1 } });
    let answered = 0;
    for (let count = 0; count < 100; count += 1) void limited.send({ method: "GET", path: "/readyz" }).then(() => (answered += 1));
    await time.advance(1_000);
    assert.equal(answered, 6);
    await time.advance(60_000);
    assert.equal(answered, 100);
  });

  it("refuses a rate that lets nothing through", () => {
    for (const wrong of [
      { perSecond: 0, burst: 1 },
      { perSecond: 1, burst: 0 },
    ])
      assert.throws(() => createFlowGate(createVirtualTime().timers, wrong), RangeError);
  });
});
