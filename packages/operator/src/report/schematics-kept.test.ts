import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSchematicId } from "@talos-operator/talos";
import { schematicsKept } from "./schematics-kept.ts";
import type { SeenMachine } from "../model/observation.ts";

const id = "5".repeat(64);

for (const [name, image, look, says] of [
  ["no image", undefined, { schematic: id }, /stay with the schematic that they run: 5{64} \(a\)\..*3765.*holds nothing/],
  ["an installer of Talos itself", "ghcr.io/siderolabs/installer", { schematic: id }, /5{64} \(a\)/],
  [
    "the schematic that holds nothing is asked for",
    `factory.talos.dev/metal-installer/${defaultSchematicId}`,
    { schematic: id },
    undefined,
  ],
  ["the schematic that runs", `factory.talos.dev/metal-installer/${id}`, { schematic: id }, undefined],
  ["what somebody built", "registry.example.org/installer", { schematic: id }, undefined],
  ["nothing to keep", undefined, { schematic: "none" }, undefined],
  ["nothing but Talos to keep", undefined, { schematic: defaultSchematicId }, undefined],
  ["another version is asked for", undefined, { schematic: id, version: "v1.13.8" }, undefined],
  ["nobody tells", undefined, {}, undefined],
] as const)
  test(`a machine that is left with what it is built from: ${name}`, () => {
    const machine = {
      declared: { name: "a", version: "v1.13.9", machineSpec: image === undefined ? {} : { image } },
      look: { kind: "running", version: "v1.13.9", ...look },
    } as unknown as SeenMachine;
    const words = schematicsKept([machine]);
    if (says === undefined) assert.equal(words, undefined);
    else assert.match(words ?? "", says);
  });
