// Genuine parts: etcd, kube-apiserver, kube-controller-manager, kubectl
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { createLogger, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { kubernetesClusterResource } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { KUBECTL_WAITS, until } from "@talos-operator/adapters/testing";
import { provideMachines } from "../../examples/machine-provider/provider.ts";
import type { Hardware } from "../../examples/machine-provider/provider.ts";
import { startFleet } from "./fleet.ts";
import { temporaryFolder } from "./processes.ts";

/**
 * A KubernetesCluster on a genuine kube-apiserver: server-side apply with our fields alone, files before Machines, a provider that knows nothing of Talos,
 * and no trace of it in the end.
 */
it("the example of a KubernetesCluster becomes Ready on a genuine API, and goes without a trace", async () => {
  using results = temporaryFolder();
  process.env["RESULTS_PATH"] = results.path;
  await using fleet = await startFleet(3, 0);
  const stop = new AbortController();
  const given = new Map<string, string>();
  // A provider may be told twice.
  const stopped = new Set<string>();
  const hardware: Hardware = {
    start: async ({ metadata }) => {
      const name = metadata?.name ?? "";
      if (!given.has(name)) given.set(name, `127.1.0.${given.size + 1}`);
      return given.get(name);
    },
    stop: async ({ metadata }) => void stopped.add(metadata?.name ?? ""),
  };
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, log: createLogger({ level: "silent" }) };
  const provider = provideMachines({ client: fleet.client, hardware, isOurs: () => true, ...ports }, stop.signal);
  try {
    const text = readFileSync(new URL("../../examples/simple-kubernetescluster.yaml", import.meta.url), "utf8");
    const [example] = parseKubernetesYaml(text) as readonly KubeObject[];
    await fleet.client.resource(kubernetesClusterResource).create({ ...example, metadata: { namespace: "default", ...example?.metadata } });
    await fleet.kubectl("wait", "--for=condition=Ready", "kubernetescluster/simple-cluster", KUBECTL_WAITS);
    const names = ["simple-cluster-cp-0", "simple-cluster-worker-pool-1-0", "simple-cluster-worker-pool-1-1"];
    const selected = await fleet.kubectl("get", "machines", "-l", "cluster.vitistack.io/cluster-name=simple-cluster", "-o", "name");
    assert.deepEqual(
      selected.trim().split("\n"),
      names.map((name) => `machine.vitistack.io/${name}`),
    );
    assert.deepEqual(readdirSync(join(results.path, "simple-cluster")).toSorted(), [".owner", ...names.map((name) => `${name}.yaml`)]);
    // Fields of others survive what the operator applies.
    await fleet.kubectl("label", "machine", "simple-cluster-cp-0", "example.org/rack=r1");
    await fleet.kubectl("annotate", "kubernetescluster", "simple-cluster", "example.org/touched=true");
    const before = await fleet.kubectl("get", "machine", "simple-cluster-cp-0", "-o", "jsonpath={.metadata.labels}");
    assert.match(before, /example\.org\/rack/);
    await fleet.kubectl("delete", "kubernetescluster", "simple-cluster", "--wait=false");
    await until("it is gone", async () => (await fleet.kubectl("get", "kubernetesclusters", "-o", "name")).trim() === "");
    assert.equal(
      (await fleet.kubectl("get", "machines,taloscontrolplanes,talosworkers,talosmachines,clusterrecords", "-o", "name")).trim(),
      "",
    );
    assert.equal(existsSync(join(results.path, "simple-cluster")), false);
    assert.deepEqual([...stopped].toSorted(), names);
    await until("keys are gone", async () => !(await fleet.kubectl("get", "secrets", "-o", "name")).includes("simple-cluster"));
  } catch (error) {
    process.stderr.write(`${fleet.logs()}\n`);
    throw error;
  } finally {
    stop.abort();
    await provider;
  }
});
