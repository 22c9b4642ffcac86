import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "../client/kube-client.ts";
import { KubeApiError } from "../client/kube-api-error.ts";
import { createMetricsRegistry } from "../metrics/create-metrics-registry.ts";
import { keyText, type KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime } from "../testing/index.ts";
import { createInformer } from "../watch/create-informer.ts";
import { createController } from "./create-controller.ts";
import type { ControllerOptions } from "./types.ts";
import { toOwner, watchOf } from "./watch-declaration.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const things = "/apis/example.dev/v1/things";
const key = (name: string) => ({ namespace: "ns", name });
const thing = (name: string, metadata: NonNullable<KubeObject["metadata"]> = {}): KubeObject => ({
  metadata: { name, namespace: "ns", ...metadata },
});

function start(options: Pick<ControllerOptions, "reconcile"> & Partial<ControllerOptions>) {
  const time = createVirtualTime();
  const log = createMemoryLog();
  const controller = createController({
    name: "things",
    watches: [],
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
    log,
    ...options,
  });
  const abort = new AbortController();
  const running = controller.run(abort.signal);
  return {
    time,
    log,
    controller,
    stop: async () => {
      abort.abort();
      await time.settle();
      await running;
      assert.equal(time.pending(), 0, "the controller left timers behind");
    },
  };
}

/** A promise that the test settles. */
function gate(): { readonly wait: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait, open: () => open() };
}

/** An API of things, and of parts that things may own, with an informer of each. */
function thingsAndParts() {
  const time = createVirtualTime();
  const api = createFakeApi();
  const random = createSeededRandom(1);
  const client = createKubeClient(api.transport());
  const ownedType: ResourceType = { ...type, plural: "parts", kind: "Part" };
  const informer = createInformer({ client, type, timers: time.timers, random });
  const parts = createInformer({ client, type: ownedType, timers: time.timers, random });
  return { time, api, random, informer, parts };
}

describe("controller", () => {
  it("wakes on its own kind and, through a mapper, on what it owns", async () => {
    const { time, api, random, informer, parts } = thingsAndParts();
    const seen: string[] = [];
    const controller = createController({
      name: "things",
      watches: [
        watchOf({ informer, why: "the object itself" }),
        watchOf({
          informer: parts,
          why: "a part tells its owner how it is",
          map: toOwner("Thing", "example.dev"),
          predicate: (delta) => delta.type !== "deleted",
        }),
      ],
      reconcile: async (woken) => {
        seen.push(keyText(woken));
        return Promise.resolve();
      },
      clock: time.clock,
      timers: time.timers,
      random,
      log: createMemoryLog(),
    });
    api.put(things, thing("a"));
    const abort = new AbortController();
    const all = Promise.all([controller.run(abort.signal), informer.run(abort.signal), parts.run(abort.signal)]);
    await time.settle();
    assert.deepEqual(seen.splice(0), ["ns/a"]);
    api.put(things, thing("a", { labels: { changed: "yes" } }));
    await time.settle();
    assert.deepEqual(seen.splice(0), ["ns/a"], "an update is one pass, though it wakes for the object before and after");
    const ownerReferences = [{ apiVersion: "example.dev/v1", kind: "Thing", name: "b", uid: "1", controller: true }];
    api.put("/apis/example.dev/v1/parts", thing("p", { ownerReferences }));
    await time.settle();
    assert.deepEqual(seen.splice(0), ["ns/b"]);
    api.put("/apis/example.dev/v1/parts", thing("p", { ownerReferences: [] }));
    await time.settle();
    assert.deepEqual(seen.splice(0), ["ns/b"], "the owner that lost its part must look");
    api.remove("/apis/example.dev/v1/parts", "ns", "p");
    await time.settle();
    assert.deepEqual(seen, [], "the predicate leaves deletions unheard");
    abort.abort();
    await time.settle();
    await all;
  });

  it("lets what a watch or a hand calls less urgent wait for the rest, whatever came first", async () => {
    const { time, api, random, informer, parts } = thingsAndParts();
    const held = gate();
    const seen: string[] = [];
    const controller = createController({
      name: "things",
      workers: 1,
      watches: [
        watchOf({ informer, why: "the object itself" }),
        watchOf({ informer: parts, why: "it is summed up", map: toOwner("Thing", "example.dev"), priority: "low" }),
      ],
      reconcile: async (woken) => {
        seen.push(keyText(woken));
        if (woken.name === "busy") await held.wait;
      },
      clock: time.clock,
      timers: time.timers,
      random,
      log: createMemoryLog(),
    });
    const abort = new AbortController();
    const all = Promise.all([controller.run(abort.signal), informer.run(abort.signal), parts.run(abort.signal)]);
    await time.settle();
    controller.enqueue(key("busy"));
    await time.settle();
    const ownerReferences = [{ apiVersion: "example.dev/v1", kind: "Thing", name: "summed-up", uid: "1", controller: true }];
    api.put("/apis/example.dev/v1/parts", thing("p", { ownerReferences }));
    await time.settle();
    controller.enqueue(key("later"), 0, "low");
    controller.enqueue(key("by-hand"));
    api.put(things, thing("new"));
    await time.settle();
    held.open();
    await time.settle();
    assert.deepEqual(seen, ["ns/busy", "ns/by-hand", "ns/new", "ns/summed-up", "ns/later"]);
    abort.abort();
    await time.settle();
    await all;
  });

  it("gives the next pass the urgency that the one before asked for", async () => {
    const seen: string[] = [];
    const held = gate();
    const { controller, time, stop } = start({
      workers: 1,
      reconcile: async ({ name }) => {
        seen.push(name);
        if (name === "busy") await held.wait;
        return seen.filter((one) => one === name).length > 1 || name === "busy"
          ? undefined
          : { requeueAfterMs: 0, priority: name === "begun" ? "normal" : undefined };
      },
    });
    controller.enqueue(key("busy"));
    await time.settle();
    controller.enqueue(key("first"), 0, "low");
    controller.enqueue(key("begun"), 0, "low");
    held.open();
    await time.settle();
    assert.deepEqual(seen, ["busy", "first", "begun", "begun", "first"]);
    await stop();
  });

  it("does not begin before the caches are complete", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    const random = createSeededRandom(1);
    api.onRequest = () => "break";
    const informer = createInformer({ client: createKubeClient(api.transport()), type, timers: time.timers, random });
    let passes = 0;
    const controller = createController({
      name: "things",
      watches: [watchOf({ informer, why: "the object itself" })],
      reconcile: async () => {
        passes += 1;
        return Promise.resolve();
      },
      clock: time.clock,
      timers: time.timers,
      random,
      log: createMemoryLog(),
    });
    const abort = new AbortController();
    const all = Promise.all([controller.run(abort.signal), informer.run(abort.signal)]);
    controller.enqueue(key("a"));
    await time.advance(3_600_000);
    assert.equal(passes, 0);
    api.onRequest = undefined;
    await time.advance(60_000);
    assert.equal(passes, 1);
    abort.abort();
    await time.settle();
    await all;
  });

  it("reconciles one key one pass at a time and others beside it", async () => {
    const gates = [gate(), gate(), gate()];
    const began: string[] = [];
    const { time, controller, stop } = start({
      workers: 3,
      reconcile: async ({ name }) => {
        const mine = gates[began.push(name) - 1];
        await mine?.wait;
      },
    });
    controller.enqueue(key("a"));
    controller.enqueue(key("b"));
    await time.settle();
    controller.enqueue(key("a"));
    await time.settle();
    assert.deepEqual(began, ["a", "b"]);
    gates[0]?.open();
    await time.settle();
    assert.deepEqual(began, ["a", "b", "a"]);
    for (const one of gates) one.open();
    await stop();
  });

  it("keeps a failure to its key, repeats it with backoff, and starts afresh after success", async () => {
    const passes: { readonly name: string; readonly at: number; readonly failures: number }[] = [];
    const { time, controller, log, stop } = start({
      reconcile: ({ name }, { failures }) => {
        passes.push({ name, at: time.now(), failures });
        if (name === "bad" && passes.filter((pass) => pass.name === "bad").length <= 3) throw new Error("boom");
        return Promise.resolve(undefined);
      },
    });
    controller.enqueue(key("bad"));
    controller.enqueue(key("good"));
    await time.advance(1_000);
    assert.deepEqual(
      passes.map(({ name, failures }) => `${name} ${failures}`),
      ["bad 0", "good 0", "bad 1", "bad 2", "bad 3"],
    );
    assert.deepEqual(controller.stats(), {
      queue: { ready: 0, readyLow: 0, delayed: 0, processing: 0, adds: 5, retries: 3, oldestReadyMs: 0, longestHeldMs: 0, totalHeldMs: 0 },
      succeeded: 2,
      failed: 3,
      catchingUp: 0,
    });
    assert.equal(log.lines.filter((line) => line.level === "error").length, 3);
    controller.enqueue(key("bad"));
    await time.settle();
    assert.equal(passes.at(-1)?.failures, 0);
    await stop();
  });

  it("takes a conflict for everyday life and does not log it aloud", async () => {
    let passes = 0;
    const { time, controller, log, stop } = start({
      reconcile: () => {
        passes += 1;
        if (passes === 1) throw new KubeApiError("CONFLICT", { call: "update things ns/a", detail: "changed" });
        return Promise.resolve(undefined);
      },
    });
    controller.enqueue(key("a"));
    await time.advance(100);
    assert.equal(passes, 2);
    assert.deepEqual(
      log.lines.map((line) => line.level),
      ["debug"],
    );
    await stop();
  });

  it("looks again when the pass said so, and earlier when something changed", async () => {
    const at: number[] = [];
    const { time, controller, stop } = start({
      reconcile: () => {
        at.push(time.now());
        return Promise.resolve({ requeueAfterMs: 10_000 });
      },
    });
    const begin = time.now();
    controller.enqueue(key("a"));
    await time.advance(12_000);
    controller.enqueue(key("a"));
    await time.advance(10_000);
    assert.deepEqual(
      at.map((when) => when - begin),
      [0, 10_000, 12_000, 22_000],
    );
    await stop();
  });

  it("reports a pass that hangs with what it was doing, aborts it, and never starts the key beside it", async () => {
    const stuck = gate();
    let passes = 0;
    let isAborted = false;
    const { time, controller, log, stop } = start({
      passTimeoutMs: 1_000,
      reconcile: async (_, { signal, note }) => {
        passes += 1;
        note("asking machine 127.1.0.1");
        signal.addEventListener("abort", () => {
          isAborted = true;
        });
        await stuck.wait;
      },
    });
    controller.enqueue(key("a"));
    await time.advance(999);
    assert.deepEqual(controller.stuck(), []);
    await time.advance(1_001);
    controller.enqueue(key("a"));
    await time.settle();
    assert.deepEqual(controller.stuck(), [{ key: key("a"), runningForMs: 2_000, overdueForMs: 1_000, step: "asking machine 127.1.0.1" }]);
    assert.ok(isAborted);
    assert.equal(passes, 1);
    assert.equal(log.lines[0]?.message, "Reconcile exceeds its deadline");
    stuck.open();
    await stop();
    assert.deepEqual(controller.stuck(), []);
  });

  it("counts how long a pass hangs by timers: a clock that is set back, or forward, changes nothing", async () => {
    const stuck = gate();
    const { time, controller, stop } = start({
      passTimeoutMs: 1_000,
      clock: { now: () => wall },
      reconcile: () => stuck.wait,
    });
    let wall = 10_000_000;
    controller.enqueue(key("a"));
    await time.settle();
    await time.advance(1_000);
    wall = 0;
    await time.advance(90_000);
    const hangs = { key: key("a"), runningForMs: 91_000, overdueForMs: 90_000, step: undefined };
    assert.deepEqual(controller.stuck(), [hangs]);
    wall = 1e12;
    assert.deepEqual([controller.stuck(), controller.running()], [[hangs], [{ key: key("a"), runningForMs: 91_000, step: undefined }]]);
    stuck.open();
    await stop();
    assert.deepEqual(controller.stuck(), []);
  });

  it("does not look at a key again before the cache shows what its last pass wrote, and works on others meanwhile", async () => {
    const seen = Promise.withResolvers<void>();
    const informer = { waitForResourceVersion: async () => seen.promise };
    const began: string[] = [];
    const { time, controller, stop } = start({
      workers: 1,
      reconcile: async ({ name }, { wrote }) => {
        began.push(name);
        if (name === "a") wrote(informer, { metadata: { resourceVersion: "7" } });
        wrote(informer, undefined);
        return Promise.resolve();
      },
    });
    controller.enqueue(key("a"));
    await time.settle();
    controller.enqueue(key("a"));
    controller.enqueue(key("b"));
    await time.advance(1_000);
    assert.deepEqual(began, ["a", "b"]);
    assert.equal(controller.stats().catchingUp, 1);
    seen.resolve();
    await time.settle();
    assert.deepEqual(began, ["a", "b", "a"]);
    await stop();
    assert.equal(controller.stats().catchingUp, 0);
  });

  it("waits for its own write however long the cache is behind, and lets go when it stops", async () => {
    let asked = 0;
    const late = new KubeApiError("CACHE_TIMEOUT", { call: "cache", detail: "not reached" });
    const informer = {
      waitForResourceVersion: async (_: string, wait?: { readonly signal?: AbortSignal }) => {
        asked += 1;
        if (asked < 3) throw late;
        await new Promise((_resolve, reject) => {
          wait?.signal?.addEventListener("abort", () => reject(late), { once: true });
        });
      },
    };
    let passes = 0;
    const { time, controller, log, stop } = start({
      reconcile: async (_, { wrote }) => {
        passes += 1;
        wrote(informer, "7");
        return Promise.resolve();
      },
    });
    controller.enqueue(key("a"));
    await time.settle();
    controller.enqueue(key("a"));
    await time.advance(600_000);
    assert.deepEqual([passes, asked, log.lines.map((line) => line.level)], [1, 3, ["warn", "warn"]]);
    await stop();
  });

  it("lets what changes now go ahead of what was there at the start, also after failures", async () => {
    const time = createVirtualTime();
    const api = createFakeApi();
    const random = createSeededRandom(1);
    for (let count = 0; count < 20; count += 1) api.put(things, thing(`old-${count}`));
    const informer = createInformer({ client: createKubeClient(api.transport()), type, timers: time.timers, random });
    const seen: string[] = [];
    const controller = createController({
      name: "things",
      watches: [watchOf({ informer, why: "the object itself" })],
      workers: 1,
      reconcile: async ({ name }) => {
        seen.push(name);
        await time.timers.sleep(10);
        if (name === "old-0" && seen.length === 1) throw new Error("boom");
      },
      clock: time.clock,
      timers: time.timers,
      random,
      log: createMemoryLog(),
    });
    const abort = new AbortController();
    const all = Promise.all([controller.run(abort.signal), informer.run(abort.signal)]);
    await time.advance(5);
    api.put(things, thing("new"));
    await time.advance(500);
    assert.deepEqual(seen.slice(0, 3), ["old-0", "new", "old-1"]);
    assert.equal(seen.at(-1), "old-0", "what failed keeps its low priority");
    abort.abort();
    await time.settle();
    await all;
  });

  it("shares its workers between groups", async () => {
    const seen: string[] = [];
    const { time, controller, stop } = start({
      workers: 1,
      groupOf: ({ name }) => name.split("-")[0] ?? "",
      reconcile: async ({ name }) => {
        seen.push(name);
        await time.timers.sleep(1);
      },
    });
    for (const name of ["a-1", "a-2", "a-3", "a-4", "b-1", "b-2", "c-1"]) controller.enqueue(key(name));
    await time.advance(100);
    assert.deepEqual(seen, ["a-1", "b-1", "c-1", "a-2", "b-2", "a-3", "a-4"]);
    await stop();
  });

  it("counts under the names of controller-runtime", async () => {
    const metrics = createMetricsRegistry();
    const { time, controller, stop } = start({
      metrics,
      passTimeoutMs: 50,
      reconcile: async ({ name }, { failures, signal }) => {
        if (name === "slow") await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        if (name === "bad" && failures === 0) throw new TypeError("boom");
        return name === "again" ? { requeueAfterMs: 3_600_000 } : undefined;
      },
    });
    for (const name of ["good", "bad", "again", "slow"]) controller.enqueue(key(name));
    await time.advance(20);
    const value = (line: string): string | undefined =>
      metrics
        .text()
        .split("\n")
        .find((one) => one.startsWith(`${line} `))
        ?.slice(line.length + 1);
    assert.deepEqual(
      Object.fromEntries(
        [
          'workqueue_depth{name="things",controller="things",priority="0"}',
          'workqueue_adds_total{name="things",controller="things"}',
          'workqueue_retries_total{name="things",controller="things"}',
          'workqueue_queue_duration_seconds_count{name="things",controller="things"}',
          'workqueue_work_duration_seconds_count{name="things",controller="things"}',
          'workqueue_unfinished_work_seconds{name="things",controller="things"}',
          'workqueue_longest_running_processor_seconds{name="things",controller="things"}',
          'controller_runtime_reconcile_total{controller="things",result="success"}',
          'controller_runtime_reconcile_total{controller="things",result="requeue_after"}',
          'controller_runtime_reconcile_total{controller="things",result="error"}',
          'controller_runtime_reconcile_errors_total{controller="things"}',
          'controller_runtime_reconcile_panics_total{controller="things"}',
          'controller_runtime_reconcile_time_seconds_count{controller="things"}',
          'controller_runtime_max_concurrent_reconciles{controller="things"}',
          'controller_runtime_active_workers{controller="things"}',
        ].map((line) => [line.replace(/\{.*?\}/, (labels) => (labels.includes("result") ? labels.replace(/.*,/, "{") : "")), value(line)]),
      ),
      {
        workqueue_depth: "0",
        workqueue_adds_total: "6",
        workqueue_retries_total: "1",
        workqueue_queue_duration_seconds_count: "5",
        workqueue_work_duration_seconds_count: "4",
        workqueue_unfinished_work_seconds: "0.02",
        workqueue_longest_running_processor_seconds: "0.02",
        'controller_runtime_reconcile_total{result="success"}': "2",
        'controller_runtime_reconcile_total{result="requeue_after"}': "1",
        'controller_runtime_reconcile_total{result="error"}': "1",
        controller_runtime_reconcile_errors_total: "1",
        controller_runtime_reconcile_panics_total: "1",
        controller_runtime_reconcile_time_seconds_count: "4",
        controller_runtime_max_concurrent_reconciles: "4",
        controller_runtime_active_workers: "1",
      },
    );
    await time.advance(100);
    assert.equal(value('controller_runtime_reconcile_timeouts_total{controller="things"}'), "1");
    await stop();
    assert.equal(value('controller_runtime_max_concurrent_reconciles{controller="things"}'), "0");
  });

  it("waits at stop for the pass that runs, tells it to end, and begins no other", async () => {
    const began: string[] = [];
    const ended: string[] = [];
    const { time, controller, stop } = start({
      workers: 1,
      reconcile: async ({ name }, { signal }) => {
        began.push(name);
        await time.timers.sleep(60_000, signal).catch(() => undefined);
        ended.push(name);
      },
    });
    controller.enqueue(key("a"));
    controller.enqueue(key("b"));
    await time.settle();
    await stop();
    assert.deepEqual([began, ended], [["a"], ["a"]]);
  });
});
