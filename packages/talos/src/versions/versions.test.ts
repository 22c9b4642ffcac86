import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConfigError } from "../config/errors.ts";
import { contractFor } from "./contract.ts";
import { defaultInstallerImage, defaultSchematicId, noSchematic, schematicOfImage } from "./images.ts";
import { defaultKubernetesFor, isKnownTalos, supportsKubernetes } from "./matrix.ts";
import { compareVersions, tryParseVersion } from "./version.ts";

test("versions are ordered, pre-releases before their release", () => {
  const sorted = ["1.13.0-alpha.2", "1.13.0-alpha.10", "1.13.0-beta.0", "1.13.0-rc.1", "v1.13.0", "1.13.1", "1.14.0-rc.0"];
  assert.deepEqual([...sorted].toReversed().toSorted(compareVersions), sorted);
  assert.equal(compareVersions("v1.13.0+abc", "1.13.0"), 0);
});

describe("what is not a version", () => {
  for (const text of ["", "v1.13", "1.13.6 ", "v1.13.6-rc.0; rm -rf", "01.2.3", "latest", "1.2.3.4", `1.2.3-${"a".repeat(200)}`]) {
    test(JSON.stringify(text.slice(0, 30)), () => {
      assert.equal(tryParseVersion(text), undefined);
    });
  }
});

test("the contract of a version is its minor", () => {
  assert.deepEqual(["v1.13.9", "1.14.0-rc.1"].map(contractFor), ["1.13", "1.14"]);
  assert.throws(
    () => contractFor("latest"),
    (error: unknown) => error instanceof ConfigError && error.code === "INVALID_VERSION",
  );
});

test("every known Talos runs the Kubernetes that it installs by default", () => {
  for (let minor = 5; minor <= 15; minor++) {
    const talos = `v1.${minor}.0`;
    assert.ok(isKnownTalos(talos));
    assert.deepEqual(supportsKubernetes(talos, defaultKubernetesFor(talos)), { ok: true });
  }
  assert.ok(!isKnownTalos("v99.0.0"));
  assert.throws(() => defaultKubernetesFor("v1.99.0"), ConfigError);
});

test("the installer comes from the factory from 1.14 on", () => {
  assert.equal(defaultInstallerImage("1.13.9"), "ghcr.io/siderolabs/installer:v1.13.9");
  assert.equal(schematicOfImage(defaultInstallerImage("v1.14.0")), defaultSchematicId);
  assert.match(defaultInstallerImage("v1.14.0"), /^factory\.talos\.dev\/metal-installer\/[0-9a-f]{64}:v1\.14\.0$/);
});

test("an installer tells its schematic by its name", () => {
  const id = "ab".repeat(32);
  for (const [image, schematic] of [
    [`factory.talos.dev/installer/${id}:v1.13.9`, id],
    [`factory.talos.dev/metal-installer-secureboot/${id}`, id],
    [`registry.example.org:5000/mirror/nocloud-installer/${id}:v1.13.9@sha256:${id}`, id],
    ["ghcr.io/siderolabs/installer:v1.13.9", noSchematic],
    [`ghcr.io/siderolabs/installer@sha256:${id}`, noSchematic],
    ["registry.example.org/siderolabs/installer:v1.13.9", undefined],
    [`factory.talos.dev/installer/${id.slice(1)}:v1.13.9`, undefined],
    [`ghcr.io/own/installer:${id}`, undefined],
    ["", undefined],
  ] as const)
    assert.equal(schematicOfImage(image), schematic, image);
});
