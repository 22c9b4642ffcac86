import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, facts, founded, inMaintenance, member, observed, running, silent } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { rememberVersions } from "./rule.ts";
import type { KnownConfig } from "../../model/config.ts";

const cps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
const machines = cps.map((address) => configured(address));
const known = facts({ machines, bootstrapDone: founded });

function looks(...versions: readonly string[]): NonNullable<World["looks"]> {
  return Object.fromEntries(cps.map((address, index) => [address, running(member(index, 3), { version: versions[index] ?? "v1.13.9" })]));
}

function configs(...versions: readonly (string | undefined)[]): ReadonlyMap<string, KnownConfig> {
  const read = { kind: "known", at: 0, settings: "", bootId: "", version: "", activeHash: "", changes: [], onDisk: "wanted" } as const;
  return new Map(
    cps.map((address, index) => {
      const kubernetes = versions[index];
      return [`demo-${address}`, { ...read, ...(kubernetes === undefined ? {} : { kubernetes }) }];
    }),
  );
}

const all = (version: string): readonly string[] => cps.map(() => version);

/** Versions of Talos and Kubernetes that are written down; `undefined` = nothing is. */
const cases: readonly { readonly name: string; readonly world: World; readonly want: readonly [string, string] | undefined }[] = [
  { name: "nothing while they run what is written down", world: { looks: looks(), configs: configs(...all("v1.36.3")) }, want: undefined },
  { name: "Talos that all of them run", world: { looks: looks(...all("v1.13.8")) }, want: ["v1.13.8", "v1.36.3"] },
  { name: "nothing in the middle of an upgrade", world: { looks: looks("v1.13.8", "v1.13.8") }, want: undefined },
  { name: "nothing while one is silent", world: { looks: { ...looks(...all("v1.13.8")), "10.0.0.3": silent } }, want: undefined },
  {
    name: "what those run that have joined",
    world: {
      facts: { ...known, machines: machines.slice(0, 2) },
      looks: { ...looks(...all("v1.13.8")), "10.0.0.3": inMaintenance("10.0.0.3") },
    },
    want: ["v1.13.8", "v1.36.3"],
  },
  { name: "nothing of a Talos that this release does not know", world: { looks: looks(...all("v1.99.0")) }, want: undefined },
  {
    name: "Kubernetes that all their configurations name",
    world: { looks: looks(), configs: configs(...all("v1.36.4")) },
    want: ["v1.13.9", "v1.36.4"],
  },
  {
    name: "nothing where one names several",
    world: { looks: looks(), configs: configs("v1.36.4", "v1.36.4", undefined) },
    want: undefined,
  },
  {
    name: "nothing of a Kubernetes that this Talos does not run",
    world: { looks: looks(), configs: configs(...all("v1.99.0")) },
    want: undefined,
  },
  {
    name: "nothing before etcd is bootstrapped",
    world: { facts: { ...known, bootstrapDone: undefined }, looks: looks(...all("v1.13.8")) },
    want: undefined,
  },
];

for (const { name, world, want } of cases)
  test(`versions: writes down ${name}`, () => {
    const [action] = rememberVersions.decide(assess(observed({ facts: known, ...world })))?.actions ?? [];
    assert.deepEqual(action?.kind === "WriteRecord" ? [action.facts.talosVersion, action.facts.kubernetesVersion] : undefined, want);
  });
