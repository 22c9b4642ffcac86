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

const phases: readonly string[] = ["starting", "disturbed", "steady"] satisfies EndpointPhase[];

/** The first answer; then phases and other answers, milliseconds that pass, `~` with the control planes that run by then, and `=` with what is known; in the end what was told. */
for (const [title, first, steps, told] of [
  [
    "silence is out of reach only three times in a row",
    "reached",
    "steady 1 silent 65000 =silent? 7000 =silent? 9000 =silent",
    "reached silent? silent",
  ],
  ["a first silence makes nothing better that refused before", "refused", "steady 1 silent 7000 =refused 60000", "refused silent"],
  ["it is asked at once when control planes come or go", "reached", "steady 10000 refused ~b,c 1", "reached refused"],
  [
    "while a control plane is disturbed by an effect of ours, and right after it, bad answers change nothing; good ones do",
    "reached",
    "steady 1 refused disturbed 1800000 steady 3000 =reached reached 10000 =reached",
    "reached",
  ],
  [
    "a bad answer that stays when the disturbance is over counts",
    "reached",
    "steady 1 disturbed refused 1000 steady 10000",
    "reached refused",
  ],
  ["a good answer counts while a control plane is disturbed", "refused", "steady 1 disturbed reached 61000", "refused reached"],
  ["what is asked when a disturbance begins says nothing of the time before", "silent", "steady disturbed 600000 =not-asked", ""],
  [
    "that nobody listens yet says nothing of a new cluster; a name that does not resolve is wrong from the beginning",
    "refused",
    "starting 120000 =not-asked unresolvable 2000",
    "unresolvable",
  ],
] as const)
  test(title, async () => {
    const world = watching(first);
    for (const step of steps.split(" "))
      if (/^\d/.test(step)) await world.advance(Number(step));
      else if (step.startsWith("=")) assert.equal(world.known(), step.slice(1));
      else if (step.startsWith("~")) world.in("steady", step.slice(1));
      else if (phases.includes(step)) world.in(step as EndpointPhase);
      else world.say(step as Kind);
    assert.equal(world.told.join(" "), told);
  });
