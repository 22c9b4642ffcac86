import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { machineAddresses, readManifest } from "./manifest.ts";

const folder = mkdtempSync(join(tmpdir(), "manifest-"));
after(() => rmSync(folder, { recursive: true }));

describe("a manifest file", () => {
  it("may hold several objects and empty documents", () => {
    const objects = readManifest(file("---\n---\n" + cluster("a", "127.1.0.1") + "---\n" + cluster("b", "127.1.0.2")));
    assert.deepEqual(
      objects.map((object) => object.metadata.name),
      ["a", "b"],
    );
    assert.deepEqual(machineAddresses(objects), ["127.1.0.1", "127.1.0.2"]);
  });

  it("is read as kubectl reads it", () => {
    const [object] = readManifest(file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nmode: 0644\nisOn: yes\nday: 2026-01-01\n"));
    assert.deepEqual([object?.["mode"], object?.["isOn"], object?.["day"]], [420, true, "2026-01-01"]);
  });

  const refused: readonly [string, string, RegExp][] = [
    ["an empty file", "", /holds no object/],
    ["no kind", "apiVersion: v1\nmetadata: {name: a}\n", /lacks apiVersion, kind or metadata.name/],
    ["broken YAML", "a: [", /is not valid YAML/],
    ["an alias bomb", bomb(), /is not valid YAML/],
    ["a bomb of few aliases", bomb(24, 2), /more than 200000 values/],
    ["nesting without end", "[".repeat(20_000), /is not valid YAML/],
  ];
  for (const [name, text, message] of refused) {
    it(`is refused for ${name}, with a remedy`, () => {
      assert.throws(() => readManifest(file(text)), { name: "CliError", message });
    });
  }

  it("is refused when it does not exist", () => {
    assert.throws(() => readManifest(join(folder, "none.yaml")), { name: "CliError", message: /cannot read the manifest/ });
  });
});

function file(text: string): string {
  const path = join(folder, "manifest.yaml");
  writeFileSync(path, text);
  return path;
}

function cluster(name: string, address: string): string {
  return `apiVersion: talos.alperen.cloud/v1alpha1\nkind: TalosCluster\nmetadata: {name: ${name}}\nspec: {controlPlane: {metalSpec: {machines: [{address: ${address}}]}}}\n`;
}

function bomb(levels = 10, width = 10): string {
  const lines = ["a0: &a0 [x]"];
  for (let level = 1; level < levels; level += 1)
    lines.push(`a${level}: &a${level} [${Array.from({ length: width }, () => `*a${level - 1}`).join(", ")}]`);
  return `${lines.join("\n")}\n`;
}
