import assert from "node:assert/strict";
import { test } from "node:test";
import { crds } from "@talos-operator/api";
import type { Condition, TalosCluster } from "@talos-operator/api";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createOperator } from "@talos-operator/operator";
import type { Logger } from "@talos-operator/ports";
import { createDatacenter, realisticTimings } from "@talos-operator/simulator";
import { createRecordedTracer } from "./world/recorded-tracer.ts";
import { createSilentWorkloads } from "./world/workloads.ts";
import { crdType } from "./world/kinds.ts";
import { createValueKeys } from "./world/value-keys.ts";

const clusters = { group: "talos.alperen.cloud", version: "v1alpha1", plural: "talosclusters", kind: "TalosCluster", namespaced: true };
const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog };

for (const { controlPlanes, workers, talosVersion, kubeVersion } of [
  { controlPlanes: 1, workers: 0, talosVersion: "v1.13.9", kubeVersion: "v1.36.3" },
  { controlPlanes: 3, workers: 3, talosVersion: "v1.12.11", kubeVersion: "v1.35.4" },
  { controlPlanes: 3, workers: 3, talosVersion: "v1.13.9", kubeVersion: "v1.36.3" },
  { controlPlanes: 3, workers: 3, talosVersion: "v1.14.0", kubeVersion: "v1.36.3" },
]) {
  test(`a TalosCluster with ${controlPlanes} control plane(s) and ${workers} worker(s) of Talos ${talosVersion} becomes Ready`, async () => {
    const time = createVirtualTime();
    const stream = (n: number) => createSeededRandom(n);
    const ports = { clock: time.clock, timers: time.timers };
    const keys = createValueKeys(stream(1));
    const api = await createApiServer({ store: createMemoryStore(), ...ports, random: stream(2) });
    const kube = api.transport({ name: "admin", groups: ["system:masters"] });
    const addresses = Array.from({ length: controlPlanes + workers }, (_, index) => `10.5.0.${index + 1}`);
    let bootstraps = 0;
    const datacenter = createDatacenter({
      ...ports,
      random: stream(3),
      keys,
      machines: addresses.map((address) => ({ address, talosVersion })),
      timings: realisticTimings,
      workload: createSilentWorkloads({ ...ports, random: stream(4) }),
      onCall: ({ path, phase, code }) => {
        if (path.endsWith("/Bootstrap") && phase === "answered" && code === 0) bootstraps += 1;
      },
    });
    const client = createKubeClient(kube);
    for (const crd of crds) await client.resource(crdType).create(crd);
    const machines = (list: readonly string[]) => ({
      machines: list.map((address) => ({ address })),
      machineSpec: { installDisk: "/dev/sda" },
    });
    const common = { version: talosVersion, kubeVersion, mode: "metal" as const };
    const cluster = {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosCluster",
      metadata: { namespace: "default", name: "demo" },
      spec: {
        controlPlane: { ...common, endpoint: "https://10.5.0.100:6443", metalSpec: machines(addresses.slice(0, controlPlanes)) },
        ...(workers === 0 ? {} : { worker: { ...common, metalSpec: machines(addresses.slice(controlPlanes)) } }),
      },
    } satisfies TalosCluster;
    await client.resource<TalosCluster>(clusters).create(cluster);

    const stop = new AbortController();
    const { tracer, spans } = createRecordedTracer();
    const operator = createOperator({
      kube,
      talos: datacenter.dialer(),
      ...ports,
      random: stream(5),
      keys,
      log: silentLog,
      tracer,
      options: { identity: "test" },
    });
    const running = operator.run(stop.signal);
    let ready: Condition | undefined;
    for (let second = 0; second < 1_800 && ready?.status !== "True"; second += 1) {
      await time.advance(1_000);
      const seen = await client.resource<TalosCluster>(clusters).get({ namespace: "default", name: "demo" });
      ready = seen.status?.conditions?.find((condition) => condition.type === "Ready");
    }
    assert.equal(ready?.status, "True", ready?.message);
    assert.equal(bootstraps, 1);
    const secrets = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
    const secret: string[] = [];
    for (const name of ["demo-bundle-1", "demo-kubeconfig", "demo-talosconfig"]) {
      const { data } = await client.resource<KubeObject & { data?: Record<string, string> }>(secrets).get({ namespace: "default", name });
      for (const value of Object.values(data ?? {}))
        secret.push(
          ...Buffer.from(value, "base64")
            .toString()
            .split(/[\s"]+/)
            .filter((word) => word.length >= 16),
        );
    }

    const effects = spans.filter(({ name }) => name.startsWith("effect "));
    for (const { parent } of effects) assert.equal(parent?.name, "reconcile taloscontrolplane");
    const configured = effects.filter(({ name }) => name === "effect ConfigureMachine").map(({ attributes }) => attributes["machine"]);
    assert.equal(new Set(configured).size, controlPlanes + workers);
    assert.equal(spans.find(({ name }) => name === "effect BootstrapEtcd")?.parent?.attributes["rule"], "bootstrapOnce");
    const told = JSON.stringify(spans.map(({ name, attributes, failure }) => [name, attributes, failure]));
    assert.ok(secret.length > 10);
    for (const word of secret) assert.ok(!told.includes(word), "a span holds what is secret");

    await time.advance(60_000);
    const settled = api.revision();
    await time.advance(600_000);
    assert.ok(
      api.revision() - settled <= 300 + 5,
      `${api.revision() - settled} writes in ten idle minutes; the lease accounts for about 300`,
    );
    stop.abort();
    await time.runUntil(() => false, 30_000);
    await running;
    await datacenter.close();
    api.close();
  });
}
