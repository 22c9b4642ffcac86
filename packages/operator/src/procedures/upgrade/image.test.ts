import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { imageFor, schematicAsked, withSchematic } from "./image.ts";

const [one, two] = ["1".repeat(64), "2".repeat(64)];
const factory = (schematic: string): string => `factory.talos.dev/metal-installer/${schematic}`;
const version = "v1.13.10";

describe("the installer for a hop", () => {
  for (const [name, image, schematic, want] of [
    ["of a machine that names none", undefined, undefined, /^image: ghcr\.io\/siderolabs\/installer:v1\.13\.10$/],
    [
      "named without a tag gets the version",
      "registry.example.org/own/installer",
      undefined,
      /^image: registry\.example\.org\/own\/installer:v1\.13\.10$/,
    ],
    ["of a factory keeps its schematic", factory(one), undefined, new RegExp(`^image: ${factory(one)}:v1\\.13\\.10$`)],
    ["of a version between keeps the schematic that runs", factory(two), one, new RegExp(`^image: ${factory(one)}:v1\\.13\\.10$`)],
    ["whose name has no schematic is left as it is called", "own/installer", one, /^image: own\/installer:v1\.13\.10$/],
    [
      "with the tag of the version is taken as it stands",
      "own/installer:v1.13.10@sha256:0",
      undefined,
      /^image: own\/installer:v1\.13\.10@sha256:0$/,
    ],
    [
      "with the tag of another version is not taken",
      "own/installer:v1.13.9",
      undefined,
      /^none: its installer own\/installer:v1\.13\.9 is not that of v1\.13\.10/,
    ],
    ["with a digest alone is not taken", "own/installer@sha256:0", undefined, /^none: .* named by a digest alone/],
  ] as const)
    test(name, () => {
      const found = imageFor(
        { machineSpec: image === undefined ? {} : { image } },
        { version, ...(schematic === undefined ? {} : { schematic }) },
      );
      assert.match(`${found.kind}: ${found.kind === "image" ? found.reference : found.why}`, want);
    });

  test("tells the schematic that it brings, where its name does", () => {
    assert.equal(schematicAsked({ version, machineSpec: { image: factory(two) } }), two);
    assert.equal(schematicAsked({ version, machineSpec: { image: "own/installer" } }), undefined);
    assert.equal(withSchematic(`${factory(two)}:v1`, one), `${factory(one)}:v1`);
    assert.equal(withSchematic(factory(two), "no schematic"), factory(two));
  });
});
