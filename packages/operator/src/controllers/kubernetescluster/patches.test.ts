import assert from "node:assert/strict";
import { test } from "node:test";
import { normaliseCluster } from "@talos-operator/api";
import { checkConfig } from "../../config/check.ts";
import { clusterDefaults } from "./defaults.ts";
import { patchesOf } from "./patches.ts";

for (const minor of ["1.11", "1.12", "1.13"])
  test(`further kernel arguments become a config that Talos ${minor} takes`, () => {
    const spec = { clusterName: "demo", controlPlane: { replicas: 1, version: "1.34" } };
    const cluster = normaliseCluster({ metadata: { name: "demo" }, spec }, clusterDefaults({}));
    const { model } = cluster;
    const [group] = model?.groups ?? [];
    assert.ok(model !== undefined && group !== undefined, JSON.stringify(cluster));
    const asked = { ...model, install: { ...model.install, extraKernelArgs: ["console=ttyS0"] } };
    const configPatches = patchesOf(asked, group, minor);
    assert.match(JSON.stringify(configPatches), /console=ttyS0/);
    const check = checkConfig({
      role: "controlplane",
      clusterName: "demo",
      endpoint: "https://10.0.0.1:6443",
      controlPlane: { mode: "metal", version: `v${minor}.0`, kubeVersion: "v1.34.1" },
      machineSpec: { configPatches },
      version: `v${minor}.0`,
      readBy: undefined,
      platform: "metal",
      installDisk: "/dev/sda",
      addresses: ["10.0.0.1"],
    });
    assert.equal(check.kind, "fine", JSON.stringify(check));
  });
