import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { normaliseCluster } from "@talos-operator/api";
import type { ClusterModel, KubernetesClusterSpec } from "@talos-operator/api";
import { clusterDefaults } from "./defaults.ts";
import { nodeAnnotations } from "./node-annotations.ts";
import { patchesOf } from "./patches.ts";

const model = (spec: KubernetesClusterSpec): ClusterModel =>
  normaliseCluster({ metadata: { name: "demo" }, spec }, clusterDefaults({})).model ?? assert.fail("it has problems");

const nested = model({
  data: {
    clusterId: "c-0001",
    clusterUid: "5c2e",
    datacenter: "no-trd-az1",
    environment: "dev",
    project: "p",
    provider: "talos",
    region: "north",
    workorder: "",
    workspace: "w",
    zone: "Trøndelag",
  },
  topology: {
    version: "1.36",
    controlplane: { replicas: 1, version: "1.36" },
    workers: [{ name: "a", replicas: 1, machineClass: "small", metadata: { labels: {}, annotations: { "example.com/a": "b" } } }],
  },
});

describe("annotations of nodes", () => {
  it("tell what an inventory knows, free text as it is (A096, A099)", () => {
    const [, worker] = nested.groups;
    assert.deepEqual(worker && nodeAnnotations(nested, worker), {
      "example.com/a": "b",
      "vitistack.io/clusterid": "c-0001",
      "vitistack.io/clustername": "demo",
      "vitistack.io/clusterproject": "p",
      "vitistack.io/clusterworkspace": "w",
      "vitistack.io/environment": "dev",
      "vitistack.io/region": "north",
      "vitistack.io/zone": "Trøndelag",
      "vitistack.io/datacenter": "no-trd-az1",
      "vitistack.io/country": "no",
      "vitistack.io/az": "az1",
      "vitistack.io/kubernetesprovider": "talos",
      "vitistack.io/machineprovider": "default",
      "vitistack.io/machineclass": "small",
      "vitistack.io/nodepool": "a",
    });
  });

  it("are in the machine configs of either kind of contract, and only those asked for without an inventory", () => {
    const flat = model({ clusterName: "demo", clusterEndpoint: "https://10.0.0.1:6443", controlPlane: { replicas: 1 } });
    const [control] = nested.groups;
    const [plain] = flat.groups;
    assert.ok(control && plain);
    assert.match(JSON.stringify(patchesOf(nested, control, "1.13")), /"nodeAnnotations":\{"vitistack.io\/clusterid":"c-0001"/);
    assert.match(JSON.stringify(patchesOf(nested, control, "1.14")), /"annotations":\{"vitistack.io\/clusterid":"c-0001"/);
    assert.deepEqual(patchesOf(flat, plain, "1.13"), []);
  });
});
