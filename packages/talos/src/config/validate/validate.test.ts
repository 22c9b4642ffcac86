import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseSecretsBundle } from "../../secrets/parse.ts";
import { generateMachineConfig } from "../generate/generate.ts";
import type { MachineConfigInput } from "../generate/input.ts";
import { patchMachineConfig } from "../patch/patch.ts";
import { validateMachineConfig } from "./validate.ts";

const secrets = parseSecretsBundle(
  readFileSync(new URL("../../../testdata/golden/genconfig/c1.13-cli/secrets.yaml", import.meta.url), "utf8"),
);
const base: MachineConfigInput = {
  role: "controlplane",
  clusterName: "alpha",
  endpoint: "https://192.0.2.10:6443",
  contract: "1.13",
  kubernetesVersion: "1.36.1",
  secrets,
  install: { disk: "/dev/sda", image: "factory.talos.dev/metal-installer/abc:v1.14.0" },
};

for (const contract of ["1.8", "1.12", "1.13", "1.14"]) {
  for (const role of ["controlplane", "worker"] as const) {
    for (const mode of ["metal", "cloud", "container"] as const) {
      test(`a generated ${role} of contract ${contract} is valid on ${mode}`, () => {
        const text = generateMachineConfig({ ...base, contract, role, platform: mode === "container" ? "container" : "metal" });
        assert.deepEqual(validateMachineConfig(text, { mode, strict: true, contract }), {
          errors: [],
          warnings: [],
          report: undefined,
          hazards: [],
        });
      });
    }
  }
}

describe("what a patch can break", () => {
  const cases: readonly (readonly [string, Partial<MachineConfigInput>, string, string])[] = [
    [
      "no disk to install to",
      {},
      "machine:\n  install:\n    disk:\n      $patch: delete\n",
      "either install disk or diskSelector should be defined",
    ],
    [
      "etcd settings on a worker",
      { role: "worker" },
      "cluster:\n  etcd:\n    subnet: 10.0.0.0/8\n",
      "etcd config is only allowed on control plane machines",
    ],
    [
      "two ways to a hostname",
      {},
      "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: n1\n",
      "HostnameConfig: 'auto' and 'hostname' cannot be set at the same time",
    ],
    [
      "a control-plane kind on a worker",
      { role: "worker", contract: "1.14" },
      "apiVersion: v1alpha1\nkind: KubeSchedulerConfig\nimage: x\n",
      "the following document kinds are only allowed on control plane machines: [KubeSchedulerConfig]",
    ],
    [
      "the old field beside the new document",
      { contract: "1.14" },
      "machine:\n  kubelet:\n    image: x\n",
      "kubelet config is already set in v1alpha1 config (.machine.kubelet)",
    ],
    ["no persistence", {}, "persist: false\n", ".persist should be enabled"],
  ];
  for (const [name, change, patch, error] of cases) {
    test(name, () => {
      const input = { ...base, ...change };
      const text = patchMachineConfig(generateMachineConfig(input), [patch], { contract: input.contract });
      assert.deepEqual(validateMachineConfig(text, { mode: "metal", contract: input.contract }).errors, [error]);
    });
  }
});

test("strictness turns a warning into an error", () => {
  const text = generateMachineConfig({ ...base, cni: { name: "custom" } });
  const lenient = validateMachineConfig(text, { mode: "metal", contract: "1.13" });
  assert.deepEqual([lenient.errors.length, lenient.warnings.length], [0, 1]);
  const strict = validateMachineConfig(text, { mode: "metal", contract: "1.13", strict: true });
  assert.deepEqual([strict.errors, strict.warnings], [[`warning: ${lenient.warnings[0]}`], []]);
});
