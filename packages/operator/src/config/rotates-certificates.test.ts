import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { controlPlane } from "../testing/builders.ts";
import { rotatesCertificates } from "./rotates-certificates.ts";
import type { MachineSettings } from "../model/machine.ts";

const kubelet = (fields: object): Record<string, unknown> => ({ machine: { kubelet: fields } });
const argument = (value: string): Record<string, unknown> => kubelet({ extraArgs: { "rotate-server-certificates": value } });

const rotates = (machineSpec: MachineSettings, version = "v1.13.9"): boolean => {
  const { spec } = controlPlane();
  assert.ok(spec);
  return rotatesCertificates({
    role: "worker",
    clusterName: "demo",
    endpoint: "https://10.0.0.100:6443",
    controlPlane: { ...spec, version },
    machineSpec,
    version,
    readBy: version,
    platform: "metal",
    installDisk: "/dev/sda",
    addresses: ["10.0.0.1"],
  });
};

describe("a kubelet asks for its serving certificate", () => {
  const cases: readonly (readonly [what: string, machineSpec: MachineSettings, asks: boolean])[] = [
    ["when a patch says so", { configPatches: [argument("true")] }, true],
    ["when a patch of its configuration says so", { configPatches: [kubelet({ extraConfig: { serverTLSBootstrap: true } })] }, true],
    ["not when a later patch takes it back", { configPatches: [argument("true"), argument("false")] }, false],
    ["not when a patch says that it does not", { configPatches: [argument("false")] }, false],
    [
      "not when only a label speaks of it",
      { configPatches: [{ machine: { nodeLabels: { "rotate-server-certificates": "true" } } }] },
      false,
    ],
    ["not of itself", {}, false],
    ["not when the patch cannot be merged", { configPatches: [{ machine: { kubelet: "rotate-server-certificates" } }] }, false],
  ];
  for (const [what, machineSpec, asks] of cases) it(what, () => assert.equal(rotates(machineSpec), asks));

  it("in documents of Talos 1.14, too", () => {
    const configPatches = [{ apiVersion: "v1alpha1", kind: "KubeletConfig", extraArgs: { "rotate-server-certificates": "true" } }];
    assert.equal(rotates({ configPatches }, "v1.14.0"), true);
  });
});
