import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSchematicId, sayPlan } from "@talos-operator/talos";
import { upgradePlanOf } from "./upgrade-plan.ts";
import type { SeenArguments } from "../model/config.ts";
import type { Look } from "../model/look.ts";
import type { Observed } from "../model/observation.ts";

const own = "5".repeat(64);
const other = "6".repeat(64);

interface Machine {
  readonly name: string;
  readonly role?: "controlplane" | "worker";
  readonly runs?: string;
  readonly asked: string;
  readonly schematic?: string;
  readonly image?: string;
  readonly storage?: string;
  readonly platform?: string;
  readonly args?: SeenArguments;
}

const lacking = (bySettings: boolean): SeenArguments => ({ bySettings, asked: ["quiet", "noapic"], lacks: ["noapic"] });

function observed(machines: readonly Machine[], annotations: Readonly<Record<string, string>> = {}): Observed {
  return {
    configs: new Map(machines.flatMap(({ name, args }) => (args === undefined ? [] : [[name, { kind: "known", arguments: args }]]))),
    controlPlane: { metadata: { name: "demo", namespace: "default", annotations }, spec: { kubeVersion: "v1.34.1" } },
    record: { kind: "present", value: { facts: { kubernetesVersion: "v1.34.1", machines: [] } } },
    machines: machines.map(({ name, role = "controlplane", runs, asked, schematic, image, storage, platform = "metal" }) => ({
      declared: { name, role, version: asked, machineSpec: image === undefined ? {} : { image } },
      look: (runs === undefined
        ? { kind: "silent" }
        : {
            kind: "running",
            version: runs,
            platform,
            ...(schematic === undefined ? {} : { schematic }),
            etcd: role === "worker" ? undefined : storage === undefined ? {} : { storage },
          }) as Look,
    })),
  } as unknown as Observed;
}

const cases: readonly { readonly name: string; readonly seen: Observed; readonly says: RegExp | "" }[] = [
  { name: "nothing is asked for", seen: observed([{ name: "a", runs: "v1.13.9", asked: "v1.13.9" }]), says: "" },
  {
    name: "the next patch",
    seen: observed([{ name: "a", runs: "v1.13.8", asked: "v1.13.9", schematic: "none" }]),
    says: /^in 1 hop: Talos v1\.13\.8 → v1\.13\.9$/,
  },
  {
    name: "extensions run that the installer of Talos itself lacks",
    seen: observed([
      { name: "a", runs: "v1.13.8", asked: "v1.13.9", schematic: own },
      { name: "b", runs: "v1.13.8", asked: "v1.13.9", schematic: own, image: "ghcr.io/siderolabs/installer" },
      { name: "c", runs: "v1.13.8", asked: "v1.13.9", schematic: "none" },
    ]),
    says: /no upgrade path: .*5{64}.*\(a, b\)/,
  },
  {
    name: "extensions run, and the installer that is asked for has them",
    seen: observed([{ name: "a", runs: "v1.13.8", asked: "v1.13.9", schematic: own, image: `factory.talos.dev/metal-installer/${own}` }]),
    says: /^in 1 hop/,
  },
  {
    name: "extensions run, and an installer is asked for that somebody built, or of another schematic",
    seen: observed([
      { name: "a", runs: "v1.13.8", asked: "v1.13.9", schematic: own, image: "registry.example.org/installer" },
      { name: "b", runs: "v1.13.8", asked: "v1.13.9", schematic: own, image: `factory.talos.dev/metal-installer/${other}` },
    ]),
    says: /^in 1 hop/,
  },
  {
    name: "another schematic alone",
    seen: observed([{ name: "a", runs: "v1.13.9", asked: "v1.13.9", schematic: own, image: `factory.talos.dev/metal-installer/${other}` }]),
    says: /^in 1 hop: Talos v1\.13\.9 with another image$/,
  },
  {
    name: "the image whose schematic runs, from another registry, and one of nobody's",
    seen: observed([
      { name: "a", runs: "v1.13.9", asked: "v1.13.9", schematic: own, image: `registry.example.org/installer/${own}` },
      { name: "b", runs: "v1.13.9", asked: "v1.13.9", schematic: own, image: "registry.example.org/installer" },
      { name: "c", runs: "v1.13.9", asked: "v1.13.9", schematic: own },
      { name: "d", runs: "v1.13.9", asked: "v1.13.9", schematic: "none", image: `registry.example.org/installer/${defaultSchematicId}` },
    ]),
    says: "",
  },
  {
    name: "kernel arguments of the settings that do not run, and an image that leaves open what runs",
    seen: observed([{ name: "a", runs: "v1.13.9", asked: "v1.13.9", schematic: own, args: lacking(true) }]),
    says: /^in 1 hop: Talos v1\.13\.9 with other kernel arguments$/,
  },
  {
    name: "kernel arguments of the settings that nothing takes from there",
    seen: observed([{ name: "a", runs: "v1.13.9", asked: "v1.13.9", schematic: own, args: lacking(false) }]),
    says: "",
  },
  {
    name: "what a machine was built from is not told yet",
    seen: observed([{ name: "a", runs: "v1.13.8", asked: "v1.13.9" }]),
    says: /^in 1 hop/,
  },
  {
    name: "containers and machines that nobody hears are no part of it",
    seen: observed([
      { name: "a", runs: "v1.13.8", asked: "v1.13.9", schematic: own, platform: "container" },
      { name: "b", asked: "v1.13.9" },
    ]),
    says: "",
  },
  {
    name: "etcd's data are newer than the oldest Talos, and nobody goes back",
    seen: observed(
      [
        { name: "a", runs: "v1.14.0", asked: "v1.13.9", storage: "3.7.0" },
        { name: "b", runs: "v1.13.9", asked: "v1.13.9", storage: "3.6.0" },
      ],
      { "talos-operator.dev/allow-downgrade": "v1.13.9" },
    ),
    says: /the data of etcd is of version 3\.7/,
  },
  {
    name: "etcd's data are those of the oldest member, and one may go back",
    seen: observed(
      [
        { name: "a", runs: "v1.14.0", asked: "v1.13.9", storage: "3.6.0" },
        { name: "b", runs: "v1.14.0", asked: "v1.13.9", storage: "3.6.0" },
      ],
      { "talos-operator.dev/allow-downgrade": "v1.13.9" },
    ),
    says: /^in 1 hop: Talos v1\.14\.0 → v1\.13\.9$/,
  },
];

for (const { name, seen, says } of cases)
  test(`an upgrade is planned from what looks show: ${name}`, () => {
    const said = sayPlan(upgradePlanOf(seen));
    if (says === "") assert.equal(said, "");
    else assert.match(said, says);
    assert.equal(upgradePlanOf(seen), upgradePlanOf(seen), "once in a pass");
  });
