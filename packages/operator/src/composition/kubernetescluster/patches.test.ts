import assert from "node:assert/strict";
import { test } from "node:test";
import { normaliseCluster } from "@talos-operator/api";
import { checkConfig } from "../../config/check.ts";
import { clusterDefaults } from "./defaults.ts";
import { patchesOf } from "./patches.ts";
import { controlPlanePool } from "./pools.ts";

/** A control plane's config with these patches is one that this Talos takes. */
function assertTaken(configPatches: ReturnType<typeof patchesOf>, minor: string, endpoint: string, kubeVersion: string): void {
  const version = `v${minor}.0`;
  const check = checkConfig({
    role: "controlplane",
    clusterName: "demo",
    endpoint: `https://${endpoint}:6443`,
    controlPlane: { mode: "metal", version, kubeVersion },
    machineSpec: { configPatches },
    version,
    readBy: undefined,
    platform: "metal",
    installDisk: "/dev/sda",
    addresses: ["10.0.0.1"],
  });
  assert.equal(check.kind, "fine", JSON.stringify(check));
}

for (const minor of ["1.12", "1.13", "1.14"])
  test(`an address that control planes hold becomes documents that Talos ${minor} takes, and workers have none`, () => {
    const spec = {
      clusterName: "demo",
      clusterEndpoint: "https://10.0.0.9:6443",
      endpointMode: "talosvip" as const,
      talosVersion: `v${minor}.0`,
      kubernetesVersion: "v1.35.0",
      controlPlane: { replicas: 3 },
      workers: [{ name: "a", replicas: 1 }],
    };
    const { model, problems } = normaliseCluster({ metadata: { name: "demo" }, spec }, clusterDefaults({}));
    const [controlPlanes, workers] = model?.groups ?? [];
    assert.ok(model !== undefined && controlPlanes !== undefined && workers !== undefined, JSON.stringify(problems));
    const configPatches = patchesOf(model, controlPlanes, minor);
    assert.deepEqual(configPatches, [
      { apiVersion: "v1alpha1", kind: "LinkAliasConfig", name: "net0", selector: { match: "true" } },
      { apiVersion: "v1alpha1", kind: "Layer2VIPConfig", name: "10.0.0.9", link: "net0" },
    ]);
    assert.deepEqual(patchesOf(model, workers, minor), []);
    assertTaken(configPatches, minor, "10.0.0.9", "v1.35.0");
  });

for (const [minor, where] of [
  ["1.13", [{ machine: { certSANs: ["api.example.com"] }, cluster: { apiServer: { certSANs: ["api.example.com"] } } }]],
  [
    "1.14",
    [
      { machine: { certSANs: ["api.example.com"] } },
      { apiVersion: "v1alpha1", kind: "KubeAPIServerConfig", certExtraSANs: ["api.example.com"] },
    ],
  ],
] as const)
  test(`names for certificates stand where Talos ${minor} looks for them (A017)`, () => {
    const talosConfig = { machine: { certSANs: ["api.example.com"] } };
    const spec = { clusterName: "demo", controlPlane: { replicas: 1, version: "1.34" }, talosConfig };
    const { model } = normaliseCluster({ metadata: { name: "demo" }, spec }, clusterDefaults({}));
    const [group] = model?.groups ?? [];
    assert.ok(model !== undefined && group !== undefined);
    assert.deepEqual(patchesOf(model, group, minor), where);
  });

for (const [minor, kubelet] of [
  ["1.13", { machine: { kubelet: { image: "reg.example/kubelet:v1.35.0", extraArgs: { "max-pods": "200" } } } }],
  ["1.14", { apiVersion: "v1alpha1", kind: "KubeletConfig", image: "reg.example/kubelet:v1.35.0", extraArgs: { "max-pods": "200" } }],
] as const)
  test(`kubelet and installation of talosConfig stand where Talos ${minor} looks for them (A019, A020)`, () => {
    const talosConfig = {
      machine: { kubelet: { image: "reg.example/kubelet:v1.35.0", extraArgs: { "max-pods": "200" } } },
      install: { disk: "/dev/vda", image: "factory.example/x:v1", wipe: true, bootloader: false },
    };
    const spec = {
      clusterName: "demo",
      talosVersion: `v${minor}.0`,
      kubernetesVersion: "v1.35.0",
      controlPlane: { replicas: 1 },
      talosConfig,
    };
    const object = { apiVersion: "vitistack.io/v1alpha1", kind: "KubernetesCluster", metadata: { name: "demo", uid: "1" }, spec } as const;
    const { model } = normaliseCluster(object, clusterDefaults({}));
    const [group] = model?.groups ?? [];
    assert.ok(model !== undefined && group !== undefined);
    const { metalSpec } =
      controlPlanePool({ cluster: object, model, group, stored: undefined, resolvedVersions: [] }, ["demo-cp-0"]).spec ?? {};
    const { configPatches, ...fields } = metalSpec?.machineSpec ?? {};
    assert.deepEqual(fields, { installDisk: "/dev/vda", wipe: true, image: "factory.example/x:v1" });
    const wanted = "kind" in kubelet ? [kubelet] : [{ machine: { install: { bootloader: false }, ...kubelet.machine } }];
    assert.deepEqual(configPatches, wanted);
    assertTaken(configPatches ?? [], minor, "10.0.0.1", "v1.35.0");
  });

for (const minor of ["1.9", "1.11", "1.12", "1.13"])
  test(`further kernel arguments become a config that Talos ${minor} takes`, () => {
    const spec = { clusterName: "demo", controlPlane: { replicas: 1, version: "1.34" } };
    const cluster = normaliseCluster({ metadata: { name: "demo" }, spec }, clusterDefaults({}));
    const { model } = cluster;
    const [group] = model?.groups ?? [];
    assert.ok(model !== undefined && group !== undefined, JSON.stringify(cluster));
    const asked = { ...model, install: { ...model.install, extraKernelArgs: ["console=ttyS0"] } };
    const configPatches = patchesOf(asked, group, minor);
    assert.match(JSON.stringify(configPatches), /console=ttyS0/);
    assertTaken(configPatches, minor, "10.0.0.1", "v1.34.1");
  });
