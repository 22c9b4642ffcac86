import assert from "node:assert/strict";
import { test } from "node:test";
import type { HeldUntil } from "@talos-operator/ports";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { Pulse } from "./pulse.ts";

interface Connection {
  /** How long it stands, in milliseconds. */
  readonly forMs: number;
  readonly end: HeldUntil;
}

/** A pulse whose connections end as `connections` says, then stand; what is asked in between is answered as `answers` says, then yes. */
function beating(connections: Connection[], answers: boolean[] = []) {
  const time = createVirtualTime();
  const told: string[] = [];
  const pulse = new Pulse({
    async hold({ signal }) {
      told.push("hold");
      const next = connections.shift();
      if (next !== undefined) await time.timers.sleep(next.forMs, signal).catch(() => undefined);
      else await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return signal.aborted || next === undefined ? "released" : next.end;
    },
    reaches() {
      told.push("ask");
      return Promise.resolve(answers.shift() ?? true);
    },
    onLost: () => told.push("lost"),
    onBack: () => told.push("back"),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  return { pulse, told, advance: (ms: number) => time.advance(ms) };
}

test("one connection is held, from whenever it was begun until it is stopped", async () => {
  const { pulse, told, advance } = beating([]);
  await advance(60_000);
  assert.deepEqual(told, []);
  pulse.begin();
  pulse.begin();
  await advance(3_600_000);
  assert.deepEqual(told, ["hold"]);
  pulse.stop();
  await advance(60_000);
  assert.deepEqual(told, ["hold"]);
});

for (const { what, connections, answers, wants } of [
  {
    what: "connections that end when their time is over are made anew, and tell nothing",
    connections: [
      { forMs: 120_000, end: "closed" },
      { forMs: 120_000, end: "closed" },
    ],
    answers: [],
    wants: ["hold", "hold", "hold"],
  },
  {
    what: "one that ends before its time on a machine that takes another one: it may have booted",
    connections: [{ forMs: 50_000, end: "closed" }],
    answers: [],
    wants: ["hold", "ask", "back", "hold"],
  },
  {
    what: "silence: it is gone",
    connections: [{ forMs: 50_000, end: "silent" }],
    answers: [true],
    wants: ["hold", "lost", "ask", "back", "hold"],
  },
  {
    what: "one that is not taken twice: it is gone, and is asked again until it is back",
    connections: [{ forMs: 1_500, end: "unreached" }],
    answers: [false, false, true],
    wants: ["hold", "ask", "lost", "ask", "lost", "ask", "back", "hold"],
  },
  {
    what: "somebody who takes connections and ends them at once brings one look forward, not one after another",
    connections: Array.from({ length: 5 }, () => ({ forMs: 10, end: "closed" as const })),
    answers: [],
    wants: ["hold", "ask", "back", "hold", "hold", "hold", "hold", "hold"],
  },
] satisfies readonly { what: string; connections: readonly Connection[]; answers: readonly boolean[]; wants: readonly string[] }[])
  test(what, async () => {
    const { pulse, told, advance } = beating([...connections], [...answers]);
    pulse.begin();
    await advance(600_000);
    assert.deepEqual(told, wants);
    pulse.stop();
  });

test("one that was stopped tells nothing of the connection it had, and holds one when it is begun anew", async () => {
  const { pulse, told, advance } = beating([{ forMs: 50_000, end: "silent" }]);
  pulse.begin();
  await advance(10_000);
  pulse.stop();
  pulse.begin();
  await advance(600_000);
  assert.deepEqual(told, ["hold", "hold"]);
  pulse.stop();
});
