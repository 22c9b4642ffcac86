import assert from "node:assert/strict";
import { test } from "node:test";
import { CliError } from "../cli-error.ts";
import { breakVersion, brokenVersionOf } from "./broken-version.ts";

test("the version that never gets healthy is named as machines write it, or is refused", () => {
  assert.deepEqual([undefined, "1.13.9", "v1.14.0-rc.1"].map(brokenVersionOf), [undefined, "v1.13.9", "v1.14.0-rc.1"]);
  for (const text of ["v1.13", "latest", "v1.13.6; rm -rf"])
    assert.throws(
      () => brokenVersionOf(text),
      (thrown) => thrown instanceof CliError && thrown.exitCode === 2,
    );
});

/** Machines as `version` or, with an asterisk before it, installed with that version; the versions that are broken then. */
function broken(version: string, ...machines: readonly string[]): readonly string[] {
  const faults: string[] = [];
  const states = machines.map((text) => ({ isInstalled: text.startsWith("*"), hardware: { talosVersion: text.replace("*", "") } }));
  const datacenter = { machines: () => states.map((state) => ({ state })), setReleaseFault: (name: string) => void faults.push(name) };
  breakVersion(datacenter as unknown as Parameters<typeof breakVersion>[0], version);
  return faults;
}

test("a version that every machine runs is refused: nothing would be seen of an upgrade to it", () => {
  assert.deepEqual(broken("v1.13.10", "*v1.13.9", "*v1.13.9", "v1.13.10"), ["v1.13.10"]);
  // An upgrade that was interrupted goes on.
  assert.deepEqual(broken("v1.13.10", "*v1.13.10", "*v1.13.9"), ["v1.13.10"]);
  assert.deepEqual(broken("v1.13.10"), ["v1.13.10"]);
  for (const machines of [["*v1.13.10", "*v1.13.10", "v1.13.9"], ["v1.13.10"]])
    assert.throws(
      () => broken("v1.13.10", ...machines),
      (thrown) => thrown instanceof CliError && thrown.exitCode === 2 && /v1\.13\.11/.test(thrown.remedy),
    );
});
