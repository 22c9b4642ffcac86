import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { showProcess } from "../adapters/process-metrics.ts";
import { createKubeClient } from "../client/kube-client.ts";
import { createController } from "../controller/create-controller.ts";
import { createManager } from "../manager/create-manager.ts";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime } from "../testing/index.ts";
import { createInformerRegistry } from "../watch/create-informer-registry.ts";
import { createMetricsRegistry } from "./create-metrics-registry.ts";
import { measuredTransport } from "./measured-transport.ts";

it("has one row for each metric with its type, and none besides", async () => {
  const time = createVirtualTime();
  const metrics = createMetricsRegistry();
  const ports = { clock: time.clock, timers: time.timers, random: createSeededRandom(1), log: createMemoryLog(), metrics };
  const client = createKubeClient(measuredTransport(createFakeApi().transport(), metrics, "api"));
  const informers = createInformerRegistry({ client, ...ports });
  informers.informer({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true });
  const manager = createManager({
    ...ports,
    client,
    informers,
    identity: "a",
    leaderElection: { namespace: "ns", name: "lease" },
    term: () => ({ controllers: [createController({ name: "maps", watches: [], reconcile: () => Promise.resolve(), ...ports })] }),
  });
  const end = showProcess(metrics);
  const abort = new AbortController();
  const running = manager.run(abort.signal);
  await time.advance(1_000);
  const served = [...metrics.text().matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  abort.abort();
  await time.advance(1_000);
  await running;
  end();
  // What follows is the operator's own, and held to its code there.
  const [page = ""] = readFileSync(new URL("../../../../docs/reference/metrics.md", import.meta.url), "utf8").split("## The operator");
  const documented = [...page.matchAll(/^\| `(\S+)` +\| (\S+) +\|/gm)].map(([, name, type]) => `${name} ${type}`);
  assert.deepEqual(documented.toSorted(), served.toSorted());
});
