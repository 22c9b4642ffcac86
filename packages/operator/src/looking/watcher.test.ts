import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { Watcher } from "./watcher.ts";
import type { Look, Running, SeenEtcd } from "../model/look.ts";

const HOUR = 3_600_000;

for (const { set, byMs } of [
  { set: "forward", byMs: HOUR },
  { set: "back", byMs: -HOUR },
])
  test(`a clock that is set ${set} makes no silence longer, nor begin in the future`, async () => {
    const time = createVirtualTime();
    const watcher = new Watcher({
      look: () => Promise.resolve({ kind: "silent", at: time.clock.now(), since: time.clock.now(), detail: "no answer in time" }),
      onChange: () => undefined,
      now: () => time.clock.now(),
      timers: time.timers,
      random: createSeededRandom(1),
      isCrowded: () => false,
    });
    const begunAt = time.clock.now();
    const sinceNow = (): number => {
      const look = watcher.last();
      return look.kind === "silent" ? look.since : Number.NaN;
    };
    watcher.nudge();
    await time.advance(60_000);
    assert.equal(sinceNow(), begunAt);
    time.setClock(time.now() + byMs);
    await time.advance(10_000);
    if (byMs > 0) assert.ok(Math.abs(sinceNow() - begunAt - byMs) <= 4_000, `counts from ${time.clock.now() - sinceNow()} ms ago`);
    else assert.ok(sinceNow() > begunAt + byMs && sinceNow() <= time.clock.now(), `counts from ${sinceNow() - time.clock.now()} ms ago`);
    watcher.close();
  });

for (const { isCrowded, withinMs } of [
  { isCrowded: false, withinMs: 50 },
  { isCrowded: true, withinMs: 250 },
])
  test(`${isCrowded ? "among very many machines" : "alone"} a machine is looked at again after ${withinMs} ms`, async () => {
    const time = createVirtualTime();
    const looks: number[] = [];
    const watcher = new Watcher({
      look: () => {
        looks.push(time.now());
        return Promise.resolve({ kind: "not-asked" });
      },
      onChange: () => undefined,
      now: () => time.clock.now(),
      timers: time.timers,
      random: createSeededRandom(1),
      isCrowded: () => isCrowded,
    });
    watcher.nudge();
    await time.advance(1_000);
    const [first = 0, second = 0] = looks;
    assert.equal(second - first, withinMs);
    watcher.close();
  });

/** Looks within half a second after the look at which a booting machine told something else. */
async function looksAfter(change: Partial<Running>): Promise<number> {
  const time = createVirtualTime();
  const booting = { kind: "running", version: undefined, platform: undefined, stage: "booting", ready: false, etcd: undefined } as const;
  let told: Partial<Running> = { unmet: [{ name: "time", reason: "not synced" }] };
  let looks = 0;
  const changes: number[] = [];
  const watcher = new Watcher({
    look: () => {
      looks += 1;
      return Promise.resolve({ ...booting, at: time.clock.now(), unmet: [], ...told });
    },
    onChange: () => changes.push(time.now()),
    now: () => time.clock.now(),
    timers: time.timers,
    random: createSeededRandom(1),
    isCrowded: () => false,
  });
  watcher.nudge();
  await time.advance(20_000);
  told = change;
  while (changes.length < 2) await time.advance(10);
  looks = 0;
  await time.advance(480);
  watcher.close();
  return looks;
}

test("a booting machine that waits for something else is not asked again at once", async () =>
  assert.equal(await looksAfter({ unmet: [{ name: "services", reason: "kubelet" }] }), 0));

for (const [what, change] of [
  ["is ready", { ready: true }],
  ["is in another stage", { stage: "running" }],
] as const)
  test(`a machine that ${what} is asked again at once, and often`, async () =>
    assert.ok((await looksAfter({ unmet: [], ...change })) >= 4));

const wellMachine = {
  kind: "running",
  version: "v1.13.9",
  platform: "metal",
  stage: "running",
  ready: true,
  unmet: [],
  etcd: undefined,
} as const;

/** A watcher that is told the pace, when it looked, and what it told; milliseconds from the beginning. */
function watched(told: () => Partial<Running>): {
  readonly watcher: Watcher;
  readonly looks: number[];
  readonly told: { readonly atMs: number; readonly look: Look }[];
  readonly advance: (ms: number) => Promise<void>;
} {
  const time = createVirtualTime();
  const looks: number[] = [];
  const news: { readonly atMs: number; readonly look: Look }[] = [];
  const begunAt = time.now();
  const watcher = new Watcher({
    look: () => {
      looks.push(time.now() - begunAt);
      return Promise.resolve({ ...wellMachine, at: time.clock.now(), ...told() });
    },
    onChange: (look) => news.push({ atMs: time.now() - begunAt, look }),
    now: () => time.clock.now(),
    timers: time.timers,
    random: createSeededRandom(1),
    isCrowded: () => false,
  });
  return { watcher, looks, told: news, advance: (ms) => time.advance(ms) };
}

test("a machine that is well is looked at seldom while something is expected of another, and at once when that one may have changed it", async () => {
  const { watcher, looks, advance } = watched(() => ({}));
  watcher.nudge();
  watcher.setPace("settled");
  await advance(30_000);
  looks.length = 0;
  watcher.setPace("beside");
  await advance(60_000);
  assert.ok(looks.length >= 8 && looks.length <= 12, `${looks.length} looks in a minute`);
  looks.length = 0;
  watcher.glance();
  await advance(1_000);
  assert.equal(looks.length, 1);
  watcher.close();
});

for (const [what, told] of [
  ["is not ready", { ready: false }],
  ["knows no leader of etcd", { etcd: { service: "Running", isHealthy: true, localMember: "1", members: [], leader: "0" } }],
] as const)
  test(`a machine that ${what} is looked at every two seconds, whoever is expected to change`, async () => {
    const { watcher, looks, advance } = watched(() => told);
    watcher.nudge();
    watcher.setPace("beside");
    await advance(30_000);
    looks.length = 0;
    await advance(20_000);
    assert.ok(looks.length >= 9, `${looks.length} looks in 20 s`);
    watcher.close();
  });

test("a machine of which something is expected is looked at every two seconds, though it is well", async () => {
  const { watcher, looks, advance } = watched(() => ({}));
  watcher.setPace("beside");
  watcher.nudge();
  await advance(60_000);
  watcher.setPace("eager");
  looks.length = 0;
  await advance(1_000);
  assert.ok(looks.length >= 5, `${looks.length} looks in the first second`);
  await advance(20_000);
  assert.ok(looks.length >= 14, `${looks.length} looks`);
  watcher.close();
});

const votes = { service: "Running", isHealthy: true, localMember: "1", members: [], leader: "1" } as const;

for (const [what, unread] of [
  ["its members", { ...votes, members: undefined }],
  ["its leader", { ...votes, leader: undefined }],
  ["no leader", { ...votes, leader: "0" }],
] as const) {
  /** What is told of the member, and after how many milliseconds, when so many readings in a row fail. */
  const toldAfter = async (failures: number): Promise<readonly (readonly [number, SeenEtcd | undefined])[]> => {
    let left = 0;
    const { watcher, told, advance } = watched(() => ({ etcd: left-- > 0 ? unread : votes }));
    watcher.nudge();
    await advance(30_000);
    left = failures;
    told.length = 0;
    watcher.nudge();
    await advance(20_000);
    watcher.close();
    return told.map(({ atMs, look }) => [atMs - 30_000, look.kind === "running" ? look.etcd : undefined]);
  };
  test(`${what} for less than six seconds is no news of a member that was well`, async () => assert.deepEqual(await toldAfter(11), []));
  test(`${what} for six seconds is told`, async () => {
    const [first, second, ...more] = await toldAfter(13);
    assert.deepEqual(first, [6_000, unread]);
    assert.equal(second?.[1], votes);
    assert.deepEqual(more, []);
  });
}

describe("an etcd that is started again and again", () => {
  const waits: SeenEtcd = {
    service: "Waiting",
    isHealthy: false,
    hasData: true,
    localMember: "none",
    members: undefined,
    leader: undefined,
  };
  const starts: SeenEtcd = { service: "Running", isHealthy: false, localMember: "none", members: undefined, leader: undefined };
  const seen = async (stateAt: (atMs: number) => SeenEtcd): Promise<readonly (string | undefined)[]> => {
    let atMs = 0;
    const { watcher, told, advance } = watched(() => ({ etcd: stateAt(atMs) }));
    watcher.nudge();
    for (; atMs < 60_000; atMs += 250) await advance(250);
    watcher.close();
    return told.map(({ look }) => (look.kind === "running" ? look.etcd?.service : undefined));
  };
  test("for a second each time is told of once", async () =>
    assert.deepEqual(await seen((atMs) => (atMs % 6_000 < 5_000 ? waits : starts)), ["Waiting"]));
  test("and runs on is told of when it has run for a while", async () =>
    assert.deepEqual(await seen((atMs) => (atMs < 20_000 ? waits : starts)), ["Waiting", "Running"]));
  test("and tells its members is told of at once", async () => {
    const tells = { ...starts, members: [] };
    assert.deepEqual(await seen((atMs) => (atMs < 20_000 ? waits : tells)), ["Waiting", "Running"]);
  });
});

test("how long a member has been unwell counts from the first look that shows it, and anew from its promotion", async () => {
  const members = (isLearner: boolean): SeenEtcd["members"] => [{ id: "1", name: "a", isLearner, peerUrls: [] }];
  let etcd: SeenEtcd = { ...votes, isHealthy: false, members: members(true) };
  const { watcher, told, advance } = watched(() => ({ etcd }));
  const since = (): number | undefined => {
    const look = watcher.last();
    return look.kind === "running" && look.etcdUnwellSince !== undefined ? look.at - look.etcdUnwellSince : undefined;
  };
  watcher.nudge();
  await advance(30_000);
  assert.ok((since() ?? 0) > 27_000, `${since()} ms`);
  assert.equal(told.length, 1);
  etcd = { ...votes, isHealthy: false, members: members(false) };
  await advance(10_000);
  assert.ok((since() ?? 0) > 5_000 && (since() ?? 0) <= 10_000, `${since()} ms`);
  etcd = votes;
  await advance(3_000);
  assert.equal(since(), undefined);
  watcher.close();
});

test("a member whose etcd does not run any more is told at once", async () => {
  let etcd: SeenEtcd = votes;
  const { watcher, advance } = watched(() => ({ etcd }));
  watcher.nudge();
  await advance(30_000);
  etcd = { ...votes, service: "Finished", isHealthy: false, members: undefined, leader: undefined };
  watcher.nudge();
  await advance(1);
  const known = watcher.last();
  assert.ok(known.kind === "running" && known.etcd === etcd);
  watcher.close();
});
