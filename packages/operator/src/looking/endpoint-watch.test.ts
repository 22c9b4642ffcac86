import assert from "node:assert/strict";
import { test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { EndpointAnswer } from "@talos-operator/ports";
import { EndpointWatch } from "./endpoint-watch.ts";
import type { EndpointPhase } from "./endpoint-watch.ts";

type Kind = EndpointAnswer["kind"];

/** A watch of one endpoint, which answers what `says` is at that time. */
function watching(first: Kind) {
  const time = createVirtualTime();
  const asked: number[] = [];
  const told: string[] = [];
  const say = { kind: first };
  const watch = new EndpointWatch({
    endpoints: {
      async ask(_, { timeoutMs }) {
        asked.push(time.now());
        const { kind } = say;
        if (kind === "silent") await time.timers.sleep(timeoutMs);
        return { kind, detail: "" };
      },
    },
    timers: time.timers,
    random: createSeededRandom(1),
    onChange: () => told.push(known()),
  });
  const known = (): string => {
    const seen = watch.seen();
    if (seen?.kind !== "answered") return seen?.kind ?? "nobody asks";
    return seen.isSure ? seen.answer.kind : `${seen.answer.kind}?`;
  };
  const target = { endpoint: "https://10.5.0.100:6443", ca: "ca" };
  return {
    asked,
    told,
    known,
    say: (kind: Kind) => void (say.kind = kind),
    in: (phase: EndpointPhase, around = "a,b,c") => watch.watch(target, phase, around),
    close: () => watch.close(),
    advance: (ms: number) => time.advance(ms),
  };
}

test("an endpoint that leads to its cluster is asked once a minute, and tells that once", async () => {
  const world = watching("reached");
  assert.equal(world.known(), "nobody asks");
  world.in("steady");
  await world.advance(3_600_000);
  world.in("steady");
  assert.deepEqual(world.told, ["reached"]);
  assert.ok(world.asked.length >= 60 && world.asked.length <= 67, String(world.asked.length));
  world.close();
  await world.advance(3_600_000);
  assert.ok(world.asked.length <= 67);
});

for (const kind of ["unresolvable", "refused", "foreign", "unfit", "not-kubernetes"] as const)
  test(`${kind} is believed at once, asked again within seconds and then once a minute`, async () => {
    const world = watching("reached");
    world.in("steady");
    await world.advance(1);
    world.say(kind);
    await world.advance(60_000);
    assert.deepEqual(world.told, ["reached", kind]);
    const before = world.asked.length;
    await world.advance(60_000);
    assert.ok(world.asked.length - before >= 4);
    await world.advance(3_600_000);
    assert.ok(world.asked.length - before < 80, String(world.asked.length - before));
    world.say("reached");
    await world.advance(61_000);
    assert.deepEqual(world.told, ["reached", kind, "reached"]);
  });

test("silence is out of reach only three times in a row", async () => {
  const world = watching("reached");
  world.in("steady");
  await world.advance(1);
  world.say("silent");
  await world.advance(60_000 + 5_000);
  assert.equal(world.known(), "silent?");
  await world.advance(2_000 + 5_000);
  assert.equal(world.known(), "silent?");
  await world.advance(4_000 + 5_000);
  assert.deepEqual(world.told, ["reached", "silent?", "silent"]);
});

test("a first silence makes nothing better that refused before", async () => {
  const world = watching("refused");
  world.in("steady");
  await world.advance(1);
  world.say("silent");
  await world.advance(2_000 + 5_000);
  assert.equal(world.known(), "refused");
  await world.advance(60_000);
  assert.deepEqual(world.told, ["refused", "silent"]);
});

test("it is asked at once when control planes come or go", async () => {
  const world = watching("reached");
  world.in("steady");
  await world.advance(10_000);
  world.say("refused");
  world.in("steady", "b,c");
  await world.advance(1);
  assert.deepEqual(world.told, ["reached", "refused"]);
});

test("while a control plane is disturbed by an effect of ours, and right after it, bad answers change nothing; good ones do", async () => {
  const world = watching("reached");
  world.in("steady");
  await world.advance(1);
  world.say("refused");
  world.in("disturbed");
  await world.advance(1_800_000);
  world.in("steady");
  await world.advance(3_000);
  assert.deepEqual(world.told, ["reached"]);
  world.say("reached");
  await world.advance(10_000);
  assert.deepEqual(world.told, ["reached"]);
  world.in("disturbed");
  world.say("refused");
  await world.advance(1_000);
  world.in("steady");
  await world.advance(10_000);
  assert.deepEqual(world.told, ["reached", "refused"], "it stays away when the effect is over");
  world.in("disturbed");
  world.say("reached");
  await world.advance(61_000);
  assert.equal(world.known(), "reached");
});

test("what is asked when a disturbance begins says nothing of the time before", async () => {
  const world = watching("silent");
  world.in("steady");
  world.in("disturbed");
  await world.advance(600_000);
  assert.deepEqual(world.told, []);
  assert.equal(world.known(), "not-asked");
});

test("that nobody listens yet says nothing of a new cluster; a name that does not resolve is wrong from the beginning", async () => {
  const world = watching("refused");
  world.in("starting");
  await world.advance(120_000);
  assert.deepEqual([world.told, world.known()], [[], "not-asked"]);
  world.say("unresolvable");
  await world.advance(2_000);
  assert.deepEqual(world.told, ["unresolvable"]);
});
