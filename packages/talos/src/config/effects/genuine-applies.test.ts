import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseSecretsBundle } from "../../secrets/parse.ts";
import { generateMachineConfig } from "../generate/generate.ts";
import { patchMachineConfig } from "../patch/patch.ts";
import { classifyConfigEffects } from "./classify.ts";

/** A call as it was recorded from a genuine node of Talos v1.13.9. */
interface Call {
  readonly label: string;
  readonly code: number;
  readonly message?: string;
  readonly responses?: readonly { readonly messages?: readonly { readonly modeDetails?: string }[] }[];
}

const recorded = new URL("../../../../simulator/testdata/transcripts/e-apply-modes.json", import.meta.url);
const calls = JSON.parse(readFileSync(recorded, "utf8")) as readonly Call[];
const bundle = readFileSync(new URL("../../../testdata/golden/genconfig/c1.13-cli/secrets.yaml", import.meta.url), "utf8");
const base = { clusterName: "rt", endpoint: "https://127.0.0.2:6443", contract: "1.13", kubernetesVersion: "1.36.3" } as const;
const made = generateMachineConfig({ role: "controlplane", ...base, secrets: parseSecretsBundle(bundle), install: { disk: "/dev/sda" } });
const patched = (patch: string): string => patchMachineConfig(made, [patch], { contract: "1.13" });

/** What the node said to a change: whether it boots by itself for it, or would have to and was told not to. */
function boots(label: string): boolean {
  const call = calls.find((one) => one.label === label);
  assert.ok(call !== undefined, label);
  if (call.code !== 0) {
    assert.match(call.message ?? "", /can't be applied in immediate mode/);
    return true;
  }
  const details = call.responses?.[0]?.messages?.[0]?.modeDetails ?? "";
  const [, how] = /Applied configuration (with|without) a reboot/.exec(details) ?? [];
  assert.ok(how !== undefined, details);
  return how === "with";
}

for (const { label, patch, path, effect } of [
  { label: "same config again, AUTO", patch: "machine: {}", path: undefined, effect: "none" },
  { label: "no-reboot label change", patch: 'machine: {nodeAnnotations: {rt/v: "1"}}', path: "machine.nodeAnnotations", effect: "live" },
  { label: "dry run, auto", patch: 'machine: {nodeAnnotations: {rt/v: "2"}}', path: "machine.nodeAnnotations", effect: "live" },
  { label: "try 5s", patch: 'machine: {nodeAnnotations: {rt/v: "2"}}', path: "machine.nodeAnnotations", effect: "live" },
  {
    label: "no-reboot with install.disk change",
    patch: "machine: {install: {disk: /dev/sdz}}",
    path: "machine.install.disk",
    effect: "reinstall",
  },
  { label: "no-reboot: change type to worker", patch: "machine: {type: worker}", path: "machine.type", effect: "forbidden" },
  { label: "auto dry run: change type to worker", patch: "machine: {type: worker}", path: "machine.type", effect: "forbidden" },
])
  test(`a genuine node and the table agree on who boots: ${label}`, () => {
    const effects = classifyConfigEffects(made, patched(patch), "v1.13.9");
    assert.equal(effects.worst, effect);
    assert.equal(effects.rebootsItself, boots(label));
    assert.ok(path === undefined ? effects.changes.length === 0 : effects.changes.every((change) => change.path.startsWith(path)));
  });
