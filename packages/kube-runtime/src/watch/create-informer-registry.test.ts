import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createController } from "../controller/create-controller.ts";
import { watchOf } from "../controller/watch-declaration.ts";
import { createKubeClient } from "../client/kube-client.ts";
import { createMetricsRegistry } from "../metrics/create-metrics-registry.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime } from "../testing/index.ts";
import { createInformerRegistry } from "./create-informer-registry.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const things = "/apis/example.dev/v1/things";
const thing = (name: string, labels = {}): KubeObject => ({ metadata: { name, namespace: "ns", labels } });
const byColor = (object: KubeObject): readonly string[] => [object.metadata?.labels?.["color"] ?? "none"];

function start() {
  const time = createVirtualTime();
  const api = createFakeApi();
  const random = createSeededRandom(1);
  const metrics = createMetricsRegistry();
  const registry = createInformerRegistry({ client: createKubeClient(api.transport()), timers: time.timers, random, metrics });
  const abort = new AbortController();
  let running: Promise<void> | undefined;
  return {
    time,
    api,
    random,
    metrics,
    registry,
    run: async () => {
      running = registry.run(abort.signal);
      await time.settle();
    },
    stop: async () => {
      abort.abort();
      await time.settle();
      await running;
      assert.deepEqual([time.pending(), api.openWatches], [0, 0]);
    },
  };
}

describe("informer registry", () => {
  it("opens one watch for a kind however many controllers ask, and wakes each of them", async () => {
    const { time, api, random, registry, run, stop } = start();
    api.put(things, thing("a"));
    const seen: string[] = [];
    const end = new AbortController();
    const controllers = ["one", "two", "three"].map((name) =>
      createController({
        name,
        watches: [watchOf({ informer: registry.informer(type), why: "the object itself" })],
        reconcile: (key) => Promise.resolve(void seen.push(`${name} ${key.name}`)),
        clock: time.clock,
        timers: time.timers,
        random,
        log: createMemoryLog(),
      }).run(end.signal),
    );
    await run();
    api.put(things, thing("b"));
    await time.settle();
    assert.deepEqual(seen.toSorted(), ["one a", "one b", "three a", "three b", "two a", "two b"]);
    assert.equal(api.openWatches, 1);
    end.abort();
    await time.settle();
    await Promise.all(controllers);
    await stop();
  });

  it("keeps scopes apart, and starts what is asked for while it runs", async () => {
    const { time, api, registry, run, stop } = start();
    api.put(things, thing("a"));
    api.put(things, { metadata: { name: "b", namespace: "other" } });
    const all = registry.informer(type);
    await run();
    const one = registry.informer(type, { namespace: "other" });
    assert.notEqual(one, all);
    assert.equal(registry.isSynced, false);
    await time.settle();
    assert.deepEqual([registry.isSynced, all.store.size, one.store.size, api.openWatches], [true, 2, 1, 2]);
    assert.deepEqual(
      registry.reports().map(({ name }) => name),
      ["things.example.dev/v1", "things.example.dev/v1 in other"],
    );
    await stop();
  });

  it("adds the indexes of each who asks, also over what is there", async () => {
    const { api, registry, run, stop } = start();
    api.put(things, thing("a", { color: "red" }));
    const informer = registry.informer(type);
    await run();
    assert.throws(() => informer.store.byIndex("color", "red"), RangeError);
    registry.informer(type, { indexers: { color: byColor } });
    registry.informer(type, { indexers: { color: byColor } });
    assert.deepEqual(
      informer.store.byIndex("color", "red").map((object) => object.metadata?.name),
      ["a"],
    );
    assert.throws(() => registry.informer(type, { indexers: { color: () => [] } }), RangeError);
    assert.throws(() => registry.informer(type, { transform: (object: KubeObject) => object }), RangeError);
    await stop();
  });

  it("reports how its informers do", async () => {
    const { time, api, metrics, registry, run, stop } = start();
    api.put(things, thing("a"));
    registry.informer(type);
    await run();
    assert.match(metrics.text(), /^kube_runtime_informer_objects\{informer="things.example.dev\/v1"\} 1$/m);
    assert.match(metrics.text(), /^kube_runtime_informer_failures\{informer="things.example.dev\/v1"\} 0$/m);
    api.onRequest = () => "break";
    api.breakWatches();
    await time.advance(60_000);
    assert.match(metrics.text(), /^kube_runtime_informer_failures\{informer="things.example.dev\/v1"\} [1-9]\d*$/m);
    assert.match(metrics.text(), /^kube_runtime_informer_synced\{informer="things.example.dev\/v1"\} 1$/m);
    await stop();
  });
});
