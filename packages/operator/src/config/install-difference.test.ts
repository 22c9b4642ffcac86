import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeMachineConfig, generateMachineConfig } from "@talos-operator/talos";
import { installDifference } from "./install-difference.ts";
import { noSecrets } from "./no-secrets.ts";
import type { InstallDifference } from "../model/config.ts";
import type { MachineSettings } from "../model/machine.ts";

const OWN = "ghcr.io/siderolabs/installer";
const OTHER = "factory.talos.dev/installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

function config(install: { readonly disk?: string; readonly image?: string; readonly wipe?: boolean }, contract = "1.13"): string {
  return generateMachineConfig({
    role: "worker",
    clusterName: "demo",
    endpoint: "https://10.0.0.100:6443",
    contract,
    kubernetesVersion: "v1.36.3",
    secrets: noSecrets,
    install: { disk: "/dev/sda", image: `${OWN}:v1.13.9`, wipe: false, ...install },
  });
}

const difference = (desired: string, live: string, machineSpec: MachineSettings = {}): InstallDifference | undefined =>
  installDifference(describeMachineConfig(desired).install, describeMachineConfig(live).install, { machineSpec, version: "v1.13.9" });

describe("what only an installation reads", () => {
  const live = config({});
  for (const contract of ["1.13", "1.14"])
    it(`is told part by part, contract ${contract}`, () => {
      const asked = config({ image: `${OTHER}:v1.13.9`, wipe: true }, contract);
      assert.deepEqual(difference(asked, config({}, contract), { installDisk: "/dev/sdb" }), {
        image: { asked: `${OTHER}:v1.13.9`, runs: `${OWN}:v1.13.9` },
        disk: { asked: "/dev/sdb", runs: "/dev/sda" },
        wipe: { asked: true, runs: false },
      });
    });

  it("is the same where the machine was installed so, or the disk was left to the operator", () => {
    assert.equal(difference(live, live, { installDisk: "/dev/sda" }), undefined);
    assert.equal(difference(live, live), undefined);
  });

  it("takes the disk that a patch names for the one that is asked for", () =>
    assert.deepEqual(difference(live, live, { installDisk: "/dev/sda", configPatches: [{ machine: { install: { disk: "/dev/sdc" } } }] }), {
      disk: { asked: "/dev/sdc", runs: "/dev/sda" },
    }));

  for (const { what, asked, runs, differs } of [
    { what: "another version of one image", asked: `${OWN}:v1.13.8`, runs: `${OWN}:v1.13.9`, differs: true },
    { what: "the version that runs by now, after an upgrade by hand", asked: `${OWN}:v1.13.9`, runs: `${OWN}:v1.13.0`, differs: false },
    { what: "another image of the version that runs", asked: `${OTHER}:v1.13.9`, runs: `${OWN}:v1.13.0`, differs: true },
    { what: "a digest", asked: `${OWN}@sha256:${"a".repeat(64)}`, runs: `${OWN}:v1.13.9`, differs: true },
    { what: "a registry with a port", asked: "localhost:5000/installer:v1.13.9", runs: "localhost:5000/installer:v1.13.0", differs: false },
  ])
    it(`${differs ? "differs" : "does not differ"} by ${what}`, () =>
      assert.deepEqual(difference(config({ image: asked }), config({ image: runs })), differs ? { image: { asked, runs } } : undefined));

  it("says nothing of a machine that was not installed", () => {
    const container = generateMachineConfig({
      role: "worker",
      clusterName: "demo",
      endpoint: "https://10.0.0.100:6443",
      contract: "1.13",
      kubernetesVersion: "v1.36.3",
      secrets: noSecrets,
      platform: "container",
    });
    assert.equal(difference(container, container, { installDisk: "/dev/sdb", wipe: true }), undefined);
  });
});
