import assert from "node:assert/strict";
import test from "node:test";
import { array, assert as check, constantFrom, nat, property, tuple } from "fast-check";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { createSeededRandom } from "../testing/seeded-random.ts";
import { createTokenKeys } from "../testing/token-keys.ts";
import { buildMachine } from "../datacenter/machines.ts";
import type { MachineInput } from "./inputs.ts";
import type { Machine } from "./machine.ts";
import { nextDue, step } from "./step.ts";
import { realisticTimings } from "./timings.ts";

const start = Date.UTC(2026, 0, 1);
const keys = createTokenKeys();
const random = createSeededRandom("step");
const secrets = await generateSecretsBundle({ contract: "1.13", clock: { now: () => start }, random, keys });
const config = generateMachineConfig({
  role: "controlplane",
  clusterName: "test",
  endpoint: "https://10.0.0.100:6443",
  contract: "1.13",
  kubernetesVersion: "1.36.1",
  secrets,
  install: { disk: "/dev/sda" },
});
const identity = await keys.createAuthority({ kind: "ed25519", notBefore: start });

/** Plays inputs; between them every timer that falls due within an hour fires. Returns the machine and the stages it went through. */
function play(inputs: readonly MachineInput[], platform: "metal" | "container" = "metal"): { machine: Machine; stages: readonly string[] } {
  let machine = buildMachine({ address: "10.0.0.1", platform }, random);
  let now = start;
  const stages: string[] = [];
  const take = (input: MachineInput): void => {
    const result = step(machine, input, { now, timings: realisticTimings });
    machine = result.machine;
    if (stages.at(-1) !== machine.stage) stages.push(machine.stage);
    for (const output of result.outputs) {
      if (output.kind === "issue-identity") take({ kind: "identity", which: output.which, identity, names: ["10.0.0.1"] });
      if (output.kind === "found-etcd") take({ kind: "etcd-founded", cluster: "k-1", memberId: "00000000000000aa" });
      if (output.kind === "etcd-changed" && machine.etcd.isChecked) take({ kind: "etcd-health", isHealthy: true });
    }
  };
  for (const input of inputs) {
    take(input);
    for (let due = nextDue(machine); due !== undefined && due < now + 3_600_000; due = nextDue(machine)) {
      now = Math.max(now, due);
      take({ kind: "timers" });
    }
    now += 1_000;
  }
  return { machine, stages };
}

const apply: MachineInput = { kind: "apply", text: config, how: "live", tryMs: 0 };

const stories: readonly { name: string; inputs: readonly MachineInput[]; platform?: "container"; want: readonly string[] }[] = [
  { name: "waits in maintenance without a configuration", inputs: [{ kind: "power-on" }], want: ["booting", "maintenance"] },
  {
    name: "installs, reboots and waits for bootstrap",
    inputs: [{ kind: "power-on" }, apply],
    want: ["booting", "maintenance", "installing", "rebooting", "booting"],
  },
  {
    name: "runs once it is bootstrapped",
    inputs: [{ kind: "power-on" }, apply, { kind: "bootstrap" }],
    want: ["booting", "maintenance", "installing", "rebooting", "booting", "running"],
  },
  {
    name: "goes from maintenance straight to booting in a container",
    inputs: [{ kind: "power-on" }, apply, { kind: "bootstrap" }],
    platform: "container",
    want: ["booting", "maintenance", "booting", "running"],
  },
  {
    name: "comes back after a reboot as what it was",
    inputs: [{ kind: "power-on" }, apply, { kind: "bootstrap" }, { kind: "reboot", actorId: "a" }],
    want: ["booting", "maintenance", "installing", "rebooting", "booting", "running", "rebooting", "booting", "running"],
  },
  {
    name: "forgets a bootstrap that a reboot overtook",
    inputs: [{ kind: "power-on" }, { kind: "bootstrap" }, apply],
    want: ["booting", "maintenance", "installing", "rebooting", "booting"],
  },
  {
    name: "waits in maintenance again after a whole wipe",
    inputs: [
      { kind: "power-on" },
      apply,
      {
        kind: "reset",
        actorId: "a",
        wipe: { state: true, ephemeral: true, system: true, meta: true },
        afterwards: "reboot",
        isGraceful: false,
      },
    ],
    want: ["booting", "maintenance", "installing", "rebooting", "booting", "resetting", "booting", "maintenance"],
  },
];
for (const { name, inputs, platform, want } of stories) {
  test(`a machine ${name}`, () => assert.deepEqual(play(inputs, platform).stages, want));
}

test("an applied configuration survives the wipe of EPHEMERAL, etcd's data does not", () => {
  const { machine } = play([
    { kind: "power-on" },
    apply,
    { kind: "bootstrap" },
    {
      kind: "reset",
      actorId: "a",
      wipe: { state: false, ephemeral: true, system: false, meta: false },
      afterwards: "reboot",
      isGraceful: false,
    },
  ]);
  assert.equal(machine.config.persisted, config);
  assert.equal(machine.etcd.data, undefined);
  assert.equal(machine.services["etcd"]?.state, "Preparing");
});

/** What JSON would lose of a value, as paths: all but texts, numbers, truth values, `null`, lists and plain objects of these. */
function foreignTo(value: unknown, path = ""): readonly string[] {
  // A field that is absent may say so.
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean") return [];
  if (typeof value === "number") return Number.isFinite(value) ? [] : [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => (item === undefined ? [path] : foreignTo(item, `${path}[${index}]`)));
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return [path];
  return Object.entries(value).flatMap(([name, child]) => foreignTo(child, `${path}.${name}`));
}

test("what is no JSON is found", () => {
  const found = foreignTo({ a: [1, { b: new Map() }], c: Number.NaN, d: () => 1, e: new Date(0), f: [undefined], g: 1n, h: null });
  assert.deepEqual(found, [".a[1].b", ".c", ".d", ".e", ".f", ".g"]);
});

test("whatever happens, a step is repeatable, its value is JSON, and the boot id changes with the boot count alone", () => {
  const input = constantFrom<MachineInput>(
    { kind: "power-on" },
    { kind: "power-off" },
    { kind: "timers" },
    { kind: "resume" },
    { kind: "bootstrap" },
    { kind: "reboot", actorId: "a" },
    { kind: "shutdown", actorId: "a" },
    { kind: "connect", isConnected: false },
    { kind: "connect", isConnected: true },
    { kind: "identity", which: "configured", identity, names: [] },
    { kind: "identity", which: "maintenance", identity, names: [] },
    { kind: "etcd-founded", cluster: "k-1", memberId: "00000000000000aa" },
    { kind: "etcd-health", isHealthy: true },
    { kind: "kubernetes-reachable" },
    { kind: "node-registered", lacksNetwork: false },
    { kind: "restart-service", id: "kubelet" },
    apply,
    { ...apply, how: "staged" },
    { ...apply, how: "try", tryMs: 5_000 },
    { ...apply, how: "reboot" },
  );
  check(
    property(array(tuple(input, nat(120_000)), { maxLength: 40 }), (inputs) => {
      let machine = buildMachine({ address: "10.0.0.1" }, createSeededRandom("fixed"));
      let now = start;
      for (const [next, wait] of inputs) {
        now += wait;
        const context = { now, timings: realisticTimings };
        const before = machine;
        const result = step(before, next, context);
        assert.deepEqual(step(before, next, context), result);
        assert.deepEqual(foreignTo(result.machine), []);
        assert.equal(result.machine.bootId === before.bootId, result.machine.bootCount === before.bootCount);
        if (result.machine.power === "off") assert.equal(result.machine.api.kind, "down");
        machine = result.machine;
      }
    }),
    { numRuns: 60 },
  );
});
