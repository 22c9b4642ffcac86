import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOfImage } from "@talos-operator/simulator";
import type { Datacenter, Machine } from "@talos-operator/simulator";
import { createInstallations } from "./installations.ts";
import { createStage } from "./stage.ts";

const MINUTE = 60_000;
const address = "10.5.0.1";
const [before, target] = ["v1.13.9", "v1.13.10"];
const schematic = "1".repeat(64);
const installer = (version: string): string => `ghcr.io/siderolabs/installer:${version}`;
const image = (version: string): object => ({ image: installer(version) });

/** What a machine shows; default: it runs the version before, for long. */
interface Shown {
  readonly runs?: string;
  readonly next?: string;
  readonly of?: string;
  readonly wipes?: number;
}

function stateOf({ runs = before, next = runs, of, wipes = 0 }: Shown): Partial<Machine> {
  const system = { media: before, next, other: undefined, ...(of === undefined ? {} : { schematics: { next: of, other: undefined } }) };
  const stored = (version: string) => ({ store: "system" as const, name: installer(version), talosVersion: version, pulledAt: 0 });
  return {
    hardware: { talosVersion: runs } as Machine["hardware"],
    isInstalled: true,
    bootedAt: 0,
    wipes,
    system,
    images: [stored(before), stored(target)],
  };
}

/** What is reported when a machine is asked to install, with what it shows and what is wanted each time, a minute after the one before. */
function reported(...course: readonly (Shown & { readonly asked?: object; readonly wanted?: string })[]): readonly string[] {
  let shown: Shown = {};
  let now = MINUTE;
  const machine = {
    address,
    get state() {
      return stateOf(shown);
    },
  };
  const datacenter = { machine: () => machine, machines: () => [machine] } as unknown as Datacenter;
  const desired = { controlPlanes: [address], workers: [], machineSpec: {}, mode: undefined, hasWrittenConfigs: false };
  const stage = createStage(desired, "reset", false);
  const found: string[] = [];
  const installations = createInstallations(
    datacenter,
    stage,
    () => now,
    (invariant, detail) => void found.push(`${invariant}: ${detail}`),
  );
  for (const { asked, wanted = target, ...shows } of course) {
    stage.desired = { ...desired, talosVersion: wanted };
    shown = shows;
    installations.look();
    now += MINUTE;
    if (asked !== undefined) installations.beforeSend(address, asked);
  }
  return found;
}

const asked = image(target);
const byDigest = { source: { imageName: namesOfImage(installer(target))[1] } };

test("a machine that is asked to install what it runs breaks Once", () => {
  assert.deepEqual(reported({ asked }), []);
  assert.deepEqual(reported({ asked: image(before) }), [`Once: ${address} is to install ${before}, which it runs`]);
  assert.deepEqual(reported({ runs: target, asked: byDigest }), [`Once: ${address} is to install ${target}, which it runs`]);
});

test("so does an installation over what was not booted yet, whoever left it there", () => {
  const over = `Once: ${address} is to install ${target} over v1.14.0, which was not booted yet`;
  assert.deepEqual(reported({ next: "v1.14.0", asked: byDigest }), [over]);
  assert.deepEqual(reported({ next: before, of: schematic, asked }), [
    `Once: ${address} is to install ${target} over ${before} of ${schematic.slice(0, 12)}, which was not booted yet`,
  ]);
});

test("so does a second installation of what was through once, but not one that came to nothing, was asked for anew, or follows a wipe", () => {
  const again = [`Once: ${address} is to install ${target} once more`];
  assert.deepEqual(reported({ asked }, { next: target }, { asked }), again);
  assert.deepEqual(reported({ asked }, { runs: target }, { asked: byDigest }), again);
  assert.deepEqual(reported({ asked }, { asked }), []);
  assert.deepEqual(
    reported({ asked }, { next: target }, { wanted: before, next: before }, { asked: image(before), runs: target }, { asked }),
    [],
  );
  assert.deepEqual(reported({ asked }, { runs: target }, { wipes: 1, asked }), []);
});
