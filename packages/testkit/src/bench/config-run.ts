/**
 * Makes machine configs with this library and prints what it took, as `hack/bench-config` does with the Go machinery: a process of its own,
 * so that nothing else counts.
 *
 *   node config-run.ts INPUTS BUNDLE COUNT
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { generateMachineConfig, parseSecretsBundle, patchMachineConfig, type MachineRole } from "@talos-operator/talos";

interface Inputs {
  readonly contract: string;
  readonly kubernetesVersion: string;
  readonly endpoint: string;
  readonly installDisk: string;
  readonly installImage: string;
  readonly clusters: number;
  readonly patches: Readonly<Record<"controlplane" | "worker", readonly string[]>>;
}

const [inputsPath = "", bundlePath = "", count = "0"] = process.argv.slice(2);
const inputs = JSON.parse(readFileSync(inputsPath, "utf8")) as Inputs;
const secrets = parseSecretsBundle(readFileSync(bundlePath, "utf8"));
const hash = createHash("sha256");
let bytes = 0;
const before = process.cpuUsage();
const start = performance.now();
for (let number = 0; number < Number(count); number++) {
  const config = makeConfig(number);
  bytes += Buffer.byteLength(config);
  hash.update(config);
}
const { user, system } = process.cpuUsage(before);
const figures = {
  configs: Number(count),
  seconds: (performance.now() - start) / 1000,
  cpuSeconds: (user + system) / 1e6,
  bytes,
  sha256: hash.digest("hex"),
  peakRssKib: process.resourceUsage().maxRSS,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);

function makeConfig(number: number): string {
  const role: MachineRole = number % 2 === 1 ? "worker" : "controlplane";
  const generated = generateMachineConfig({
    role,
    clusterName: `cluster-${number % inputs.clusters}`,
    endpoint: inputs.endpoint,
    contract: inputs.contract,
    kubernetesVersion: inputs.kubernetesVersion,
    secrets,
    install: { disk: inputs.installDisk, image: inputs.installImage },
  });
  const patches = inputs.patches[role].map((patch) => patch.replaceAll("NUMBER", String(number)));
  return patchMachineConfig(generated, patches, { contract: inputs.contract });
}
