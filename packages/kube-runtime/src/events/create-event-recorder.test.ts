import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKubeClient } from "../client/kube-client.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { createFakeApi, createMemoryLog, createVirtualTime } from "../testing/index.ts";
import { createEventRecorder } from "./create-event-recorder.ts";
import { cutToBytes } from "./cut-to-bytes.ts";
import type { EventInput } from "./types.ts";

const events = "/apis/events.k8s.io/v1/events";
const cluster: KubeObject = {
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosCluster",
  metadata: { namespace: "ns", name: "demo", uid: "u1", resourceVersion: "7" },
};
const bootstrapped: EventInput = {
  type: "Normal",
  reason: "Bootstrapped",
  action: "Bootstrap",
  note: "etcd was bootstrapped on 127.1.0.1",
};

function start() {
  const api = createFakeApi();
  const time = createVirtualTime();
  const recorder = createEventRecorder({
    client: createKubeClient(api.transport()),
    clock: time.clock,
    timers: time.timers,
    log: createMemoryLog(),
    reportingController: "talos-operator.dev/operator",
    reportingInstance: "operator-0",
  });
  return { api, time, recorder };
}

const written = (api: ReturnType<typeof createFakeApi>) => api.objects(events) as readonly (KubeObject & Record<string, unknown>)[];

describe("event recorder", () => {
  it("writes what happened, to what, by whom and when", async () => {
    const { api, recorder } = start();
    recorder.record(cluster, bootstrapped);
    await recorder.flush();
    const [event] = written(api);
    const { metadata, ...rest } = event ?? {};
    assert.match(metadata?.name ?? "", /^demo\.[0-9a-f]{16}$/);
    assert.deepEqual(rest, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "talos-operator.dev/operator",
      reportingInstance: "operator-0",
      ...bootstrapped,
      regarding: {
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosCluster",
        namespace: "ns",
        name: "demo",
        uid: "u1",
        resourceVersion: "7",
      },
    });
  });

  it("counts repeats as a series and writes them at most once a minute", async () => {
    const { api, time, recorder } = start();
    for (let round = 0; round < 100; round += 1) {
      recorder.record(cluster, bootstrapped);
      await time.advance(1_000);
    }
    assert.equal(written(api).length, 1);
    assert.equal(api.requests.length, 2);
    await recorder.close();
    assert.deepEqual(written(api)[0]?.["series"], { count: 100, lastObservedTime: "2026-01-01T00:01:39.000000Z" });
    assert.equal(time.pending(), 0);
  });

  it("begins a new event after a long silence and for another note", async () => {
    const { api, time, recorder } = start();
    recorder.record(cluster, bootstrapped);
    recorder.record(cluster, { ...bootstrapped, note: "other" });
    await time.advance(400_000);
    recorder.record(cluster, bootstrapped);
    await recorder.flush();
    assert.equal(written(api).length, 3);
    await recorder.close();
  });

  it("never throws and counts what it had to drop", async () => {
    const { api, recorder } = start();
    api.onRequest = () => "break";
    recorder.record(cluster, bootstrapped);
    recorder.record({}, bootstrapped);
    await recorder.flush();
    assert.equal(recorder.dropped, 2);
    await recorder.close();
    recorder.record(cluster, bootstrapped);
    assert.equal(recorder.dropped, 3);
  });

  it("does not grow without bound while the API server is away", async () => {
    const { api, recorder } = start();
    api.onRequest = () => "break";
    for (let index = 0; index < 3_000; index += 1) recorder.record(cluster, { ...bootstrapped, note: `note ${index}` });
    assert.equal(recorder.dropped, 2_000);
    await recorder.close();
    assert.equal(recorder.dropped, 3_000);
  });

  it("puts events about cluster-scoped objects into the namespace default", async () => {
    const { api, recorder } = start();
    recorder.record({ kind: "Node", metadata: { name: "n".repeat(253) } }, bootstrapped);
    await recorder.flush();
    assert.equal(written(api)[0]?.metadata?.namespace, "default");
    assert.ok((written(api)[0]?.metadata?.name?.length ?? 999) <= 253);
    await recorder.close();
  });

  it("cuts long notes between characters", () => {
    assert.equal(cutToBytes("short", 1024), "short");
    const cut = cutToBytes("é".repeat(1000), 1024);
    assert.ok(Buffer.byteLength(cut) <= 1024);
    assert.match(cut, /^é+…$/);
  });
});
