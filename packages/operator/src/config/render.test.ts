import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosControlPlaneSpec } from "@talos-operator/api";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import { renderInput } from "../testing/render-input.ts";
import type { MachineSettings } from "../model/machine.ts";

function config(version: string, machineSpec: MachineSettings, over: Partial<TalosControlPlaneSpec> = {}): string {
  return renderMachineConfig({ ...renderInput(version, machineSpec, over), secrets: noSecrets });
}

describe("each setting of machines shows in their config, and not without it", () => {
  const cases: readonly {
    readonly field: string;
    readonly spec: MachineSettings;
    readonly over?: Partial<TalosControlPlaneSpec>;
    readonly shows: RegExp;
  }[] = [
    { field: "wipe", spec: { wipe: true }, shows: /wipe: true/ },
    { field: "image", spec: { image: "registry.internal/talos/installer" }, shows: /registry\.internal\/talos\/installer:v1\./ },
    { field: "imageCache", spec: { imageCache: true }, shows: /name: IMAGECACHE/ },
    {
      field: "registries",
      spec: { registries: { mirrors: { "docker.io": { endpoints: ["https://mirror.internal"] } } } },
      shows: /mirror\.internal/,
    },
    {
      field: "additionalConfig",
      spec: { additionalConfig: [{ apiVersion: "v1alpha1", kind: "KmsgLogConfig", name: "far", url: "udp://10.0.0.9:514" }] },
      shows: /kind: KmsgLogConfig/,
    },
    { field: "configPatches", spec: { configPatches: [{ machine: { sysctls: { "vm.swappiness": "1" } } }] }, shows: /vm\.swappiness/ },
    {
      field: "cni (B017)",
      spec: {},
      over: { cni: { name: "custom", urls: ["https://example.org/cni.yaml"] } },
      shows: /example\.org\/cni\.yaml/,
    },
    {
      field: "cni.flannel.extraArgs (B017)",
      spec: {},
      over: { cni: { name: "flannel", flannel: { extraArgs: ["--iface-can-reach=10.0.0.1"] } } },
      shows: /--iface-can-reach=10\.0\.0\.1/,
    },
    {
      field: "cni.flannel.kubeNetworkPoliciesEnabled (B017)",
      spec: {},
      over: { cni: { name: "flannel", flannel: { kubeNetworkPoliciesEnabled: true } } },
      shows: /kubeNetworkPoliciesEnabled: true/,
    },
    { field: "podCIDR", spec: {}, over: { podCIDR: ["10.200.0.0/16"] }, shows: /10\.200\.0\.0\/16/ },
    { field: "serviceCIDR", spec: {}, over: { serviceCIDR: ["10.201.0.0/16"] }, shows: /10\.201\.0\.0\/16/ },
    { field: "clusterDomain", spec: {}, over: { clusterDomain: "one.example" }, shows: /dnsDomain: one\.example/ },
  ];
  for (const version of ["v1.13.9", "v1.14.0"])
    for (const { field, spec, over, shows } of cases)
      test(`${field}, Talos ${version}`, () => {
        assert.match(config(version, spec, over), shows);
        assert.doesNotMatch(config(version, {}), shows);
      });

  for (const version of ["v1.13.9", "v1.14.0"])
    for (const field of ["airGap", "allowSchedulingOnControlPlanes"] as const)
      test(`${field}, Talos ${version}`, () => assert.notEqual(config(version, { [field]: true }), config(version, {})));

  test("a container has no disk to install on and no cache", () => {
    const base = {
      controlPlane: { mode: "metal", version: "v1.13.9", kubeVersion: "v1.35.4" } as const,
      version: "v1.13.9",
      readBy: undefined,
    };
    const text = renderMachineConfig({
      ...base,
      role: "worker",
      clusterName: "demo",
      endpoint: "https://10.0.0.100:6443",
      machineSpec: { imageCache: true },
      platform: "container",
      installDisk: undefined,
      addresses: ["10.0.0.1"],
      secrets: noSecrets,
    });
    assert.doesNotMatch(text, /IMAGECACHE|\/dev\/sda/);
  });
});
