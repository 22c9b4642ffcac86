import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenIntent } from "@talos-operator/api";
import type { Datacenter } from "@talos-operator/simulator";
import type { EffectId } from "./effects.ts";
import { createStage } from "./stage.ts";
import { createTalosRules } from "./talos-rules.ts";

const controlPlanes = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const worker = "10.5.0.4";
const [schematic, another] = ["1".repeat(64), "2".repeat(64)];

interface Given {
  readonly effect?: EffectId;
  readonly to?: string;
  readonly call?: string;
  readonly talosVersion?: string | undefined;
  readonly talosSchematic?: string;
  /** Talos itself runs, built from no schematic. */
  readonly isPlain?: true;
  /** No ready node, for so long when the call goes out. */
  readonly away?: string;
  readonly forMs?: number;
}

/** What is reported when a call goes to a machine; all run v1.13.9 of a schematic. */
function reported({
  effect = "T11",
  to = "10.5.0.2",
  call = "/machine.MachineService/Reboot",
  away,
  forMs = 91_000,
  isPlain,
  ...asked
}: Given): readonly string[] {
  const { talosVersion = "v1.13.10", talosSchematic } = asked;
  let now = 0;
  const machines = [...controlPlanes, worker].map((address) => ({
    address,
    state: {
      etcd: { data: address === worker ? undefined : { memberId: address } },
      kubernetes: { isNodeReady: address !== away },
      hardware: { talosVersion: "v1.13.9" },
      power: "on",
      isConnected: true,
      schematic: isPlain === true ? undefined : schematic,
    },
  }));
  const datacenter = {
    machines: () => machines,
    machine: (wanted: string) => machines.find(({ address }) => address === wanted),
    etcdClusters: () => [{ members: controlPlanes.map((id) => ({ id })) }],
  } as unknown as Datacenter;
  const stage = createStage(
    { controlPlanes, workers: [worker], machineSpec: {}, mode: undefined, hasWrittenConfigs: false },
    "reset",
    false,
  );
  const told: string[] = [];
  const rules = createTalosRules(
    datacenter,
    stage,
    () => now,
    (invariant) => void told.push(invariant),
  );
  rules.look();
  now = forMs;
  const isUpgrade = !("talosVersion" in asked) || asked.talosVersion !== undefined;
  const intent = {
    machine: { address: to },
    ...(isUpgrade ? { talosVersion } : {}),
    ...(talosSchematic === undefined ? {} : { talosSchematic }),
  };
  rules.beforeSend(effect, to, [intent as unknown as OpenIntent], `${call} ${to}`);
  return told;
}

const install = { effect: "T10", call: "/machine.LifecycleService/Upgrade" } as const;
const cases: readonly (readonly [string, readonly string[], Given])[] = [
  ["a boot into another Talos beside a control plane that is not back", ["S21"], { away: "10.5.0.1" }],
  ["an installation beside one", ["S21"], { ...install, away: "10.5.0.1" }],
  ["a boot beside one that has just gone", [], { away: "10.5.0.1", forMs: 60_000 }],
  ["a boot of the very one that is not ready", [], { away: "10.5.0.2" }],
  ["a boot beside a worker that is not back", [], { away: worker }],
  ["a worker beside a control plane that is not back", [], { to: worker, away: "10.5.0.1" }],
  ["a boot for settings beside one", [], { away: "10.5.0.1", talosVersion: undefined }],
  ["a way back beside one", [], { call: "/machine.MachineService/Rollback", away: "10.5.0.1" }],
  ["what runs", ["S21"], { ...install, talosVersion: "v1.13.9", talosSchematic: schematic }],
  ["what runs, on a worker", ["S21"], { ...install, to: worker, talosVersion: "v1.13.9", talosSchematic: schematic }],
  ["another image of what runs", [], { ...install, talosVersion: "v1.13.9", talosSchematic: another }],
  ["an image where Talos itself runs", [], { ...install, isPlain: true, talosVersion: "v1.13.9", talosSchematic: schematic }],
  ["an older one", ["S21"], { ...install, talosVersion: "v1.13.8" }],
  ["a newer one", [], install],
];
for (const [what, want, given] of cases)
  test(`${want.length === 0 ? "nothing is broken" : "S21 is broken"} by ${what}`, () => assert.deepEqual(reported(given), want));
