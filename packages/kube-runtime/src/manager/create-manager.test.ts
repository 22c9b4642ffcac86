import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "../client/kube-client.ts";
import { createController } from "../controller/create-controller.ts";
import { watchOf } from "../controller/watch-declaration.ts";
import type { FencingToken } from "../lease/types.ts";
import { createMetricsRegistry } from "../metrics/create-metrics-registry.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime, type FakeApi, type VirtualTime } from "../testing/index.ts";
import { createInformerRegistry } from "../watch/create-informer-registry.ts";
import { createManager } from "./create-manager.ts";
import type { ManagerOptions } from "./types.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const things = "/apis/example.dev/v1/things";
const leases = "/apis/coordination.k8s.io/v1/leases";
const leaderElection = { namespace: "ns", name: "lease" };

function startManager(time: VirtualTime, api: FakeApi, identity: string, more: Partial<ManagerOptions> & { passMs?: number } = {}) {
  const { passMs = 0, ...options } = more;
  const random = createSeededRandom(identity.length);
  const log = createMemoryLog();
  const metrics = createMetricsRegistry();
  const client = createKubeClient(api.transport());
  const ports = { clock: time.clock, timers: time.timers, random, log };
  const informers = createInformerRegistry({ client, ...ports });
  const things = informers.informer(type);
  const story: string[] = [];
  const tokens: FencingToken[] = [];
  const manager = createManager({
    client,
    ...ports,
    identity,
    informers,
    leaderElection,
    metrics,
    term: (leadership) => {
      tokens.push(leadership.token);
      const controller = createController({
        name: "things",
        watches: [watchOf({ informer: things, why: "the object itself" })],
        reconcile: async ({ name }) => {
          story.push(`begin ${name}`);
          await time.timers.sleep(passMs);
          story.push(`end ${name}, ${things.status().phase}, lease ${holder(api)}`);
        },
        passTimeoutMs: 1_000,
        ...ports,
      });
      return { controllers: [controller], close: () => void story.push("term closed") };
    },
    close: () => Promise.resolve(void story.push(`closed, ${things.status().phase}, lease ${holder(api)}`)),
    ...options,
  });
  const abort = new AbortController();
  const running = manager.run(abort.signal).then(() => story.push(`ended with ${api.openWatches} watches`));
  const master = (): string | undefined => /^leader_election_master_status\{name="lease"\} (.*)$/m.exec(metrics.text())?.[1];
  return { manager, story, tokens, log, abort, running, master, metrics };
}

const holder = (api: FakeApi): string =>
  (api.objects(leases)[0] as { spec?: { holderIdentity?: string } } | undefined)?.spec?.holderIdentity ?? "free";

describe("manager", () => {
  it("ends in order: last pass, lease, close, caches", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    api.put(things, { metadata: { namespace: "ns", name: "a" } });
    const { manager, story, abort, running, master } = startManager(time, api, "one", { passMs: 500 });
    await time.advance(100);
    assert.deepEqual([manager.health().isLeading, manager.leadership()?.identity, master()], [true, "one", "1"]);
    abort.abort();
    await time.advance(1_000);
    await running;
    assert.deepEqual(story, ["begin a", "end a, watching, lease one", "term closed", "closed, watching, lease ", "ended with 0 watches"]);
    assert.deepEqual([manager.health().isLeading, manager.leadership(), master()], [false, undefined, "0"]);
    assert.equal(time.pending(), 0);
  });

  it("keeps a standby warm, which takes over at once with a newer fencing token", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    api.put(things, { metadata: { namespace: "ns", name: "a" } });
    const first = startManager(time, api, "one");
    await time.advance(100);
    const second = startManager(time, api, "second");
    await time.advance(5_000);
    assert.deepEqual([second.manager.health().isReady, second.manager.health().isLeading, second.story], [true, false, []]);
    const lists = (): number =>
      api.requests.filter((request) => request.query?.["sendInitialEvents"] === "true" && request.path === things).length;
    const before = lists();
    first.abort.abort();
    await time.advance(100);
    await first.running;
    assert.deepEqual(second.story.slice(0, 1), ["begin a"]);
    assert.equal(lists(), before, "the standby had its cache already");
    assert.deepEqual([first.tokens[0]?.leaseTransitions, second.tokens[0]?.leaseTransitions], [0, 1]);
    second.abort.abort();
    await time.advance(100);
    await second.running;
  });

  it("makes fresh controllers for each turn of leadership", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    const { manager, story, tokens, abort, running } = startManager(time, api, "one");
    await time.advance(100);
    manager.leadership()?.resign();
    await time.advance(10_000);
    assert.equal(tokens.length, 2);
    assert.deepEqual(story, ["term closed"]);
    abort.abort();
    await time.advance(100);
    await running;
  });

  it("leads alone without a lease", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    const { manager, abort, running } = startManager(time, api, "one", { leaderElection: false });
    await time.advance(100);
    const leadership = manager.leadership();
    assert.deepEqual([leadership?.isHeld(), await leadership?.confirm(), api.objects(leases)], [true, true, []]);
    abort.abort();
    await time.advance(100);
    await running;
    assert.deepEqual([leadership?.isHeld(), leadership?.remainingMs()], [false, 0]);
  });

  it("is not ready before its caches are complete, and not while they are not followed", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    api.onRequest = () => "break";
    const { manager, abort, running } = startManager(time, api, "one");
    await time.advance(1_000);
    assert.deepEqual(
      [manager.health().isReady, manager.health().problems],
      [false, ["the cache of things.example.dev/v1 is not complete yet"]],
    );
    api.onRequest = undefined;
    await time.advance(60_000);
    assert.deepEqual([manager.health().isReady, manager.health().problems], [true, []]);
    api.onRequest = () => "break";
    api.breakWatches();
    await time.advance(120_000);
    const silent = "the Kubernetes API let the lease lease be neither read nor renewed for 30 s";
    const [unfollowed = "", ...more] = manager.health().problems;
    assert.match(unfollowed, /^the cache of things.example.dev\/v1 has failed \d+ times in a row$/);
    assert.deepEqual(more, [silent]);
    assert.deepEqual([manager.health().isReady, manager.health().isAlive], [false, true], "a restart would not bring the API back");
    api.onRequest = undefined;
    await time.advance(60_000);
    assert.equal(manager.health().isReady, true);
    abort.abort();
    await time.advance(100);
    await running;
  });

  for (const { name, others } of [
    { name: "a leader", others: 0 },
    { name: "a standby", others: 1 },
  ])
    it(`is not ready 30 s after the API began to hang, as ${name}, which a restart would not release, and is again once it answers`, async () => {
      const time = createVirtualTime();
      const api = createFakeApi();
      const first = startManager(time, api, "one");
      await time.advance(100);
      const all = others === 0 ? [first] : [first, startManager(time, api, "second")];
      await time.advance(600_000);
      const health = () => all.map(({ manager }) => [manager.health().isReady, manager.health().isAlive]);
      const [well, hanging] = [true, false].map((isReady) => all.map(() => [isReady, true]));
      assert.deepEqual(health(), well, "a lease that nobody changes is no silence");
      api.onRequest = () => "hang";
      api.silenceWatches();
      await time.advance(5_000);
      assert.deepEqual(health(), well, "a moment is none either");
      await time.advance(25_100);
      assert.deepEqual(health(), hanging);
      await time.advance(600_000);
      assert.deepEqual(health(), hanging);
      api.onRequest = undefined;
      await time.advance(30_000);
      assert.deepEqual(health(), well);
      for (const { abort } of all) abort.abort();
      await time.advance(60_000);
      await Promise.all(all.map(({ running }) => running));
      assert.equal(time.pending(), 0);
    });

  it("is not alive while a pass goes on long after its deadline, and stops without it", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    api.put(things, { metadata: { namespace: "ns", name: "a" } });
    const { manager, story, log, abort, running } = startManager(time, api, "one", { passMs: 3_600_000, shutdownTimeoutMs: 5_000 });
    await time.advance(30_000);
    assert.deepEqual([manager.health().isAlive, manager.health().stuck.length], [true, 1], "it was told to end and may still do so");
    await time.advance(60_000);
    assert.equal(manager.health().isAlive, false);
    assert.match(manager.health().problems.join(), /^the pass over ns\/a exceeds its deadline by \d+ s$/);
    abort.abort();
    await time.advance(5_000);
    await running;
    assert.deepEqual(story, ["begin a", "ended with 0 watches"]);
    assert.deepEqual(
      log.lines.filter((line) => line.level === "error").map((line) => [line.message, line.fields["left"]]),
      [["Shutdown goes on without the passes that have not ended", ["ns/a"]]],
    );
    assert.equal(holder(api), "one", "the lease expires, since its work may still have effects");
  });
});
