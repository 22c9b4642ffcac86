import assert from "node:assert/strict";
import { test } from "node:test";
import { isImageGone, pullWords } from "./pull-words.ts";

for (const [name, outcome, detail, says] of [
  ["no such image", "refused", "a: not found", "the registry has none of that name and version (a: not found)"],
  [
    "another processor",
    "refused",
    "no match for platform in manifest: not found",
    "it is not built for the processor of this machine (no match for platform in manifest: not found)",
  ],
  ["what nobody foresaw", "refused", "no space left on device", "no space left on device"],
] as const)
  test(name, () => assert.equal(pullWords("x:v1", { outcome, detail }), `the installer x:v1 could not be pulled: ${says}`));

test("nobody answered: the machine alone knows why", () =>
  assert.match(pullWords("x:v1", { outcome: "unknown", detail: "deadline" }), /talosctl dmesg says why\. Often .*400\) \(deadline\)$/));

for (const [name, outcome, detail, isGone] of [
  ["the store lacks the image", "refused", 'upgrade failed: installer image "x@sha256:1" not found in containerd store: image "x', true],
  ["the installer failed", "refused", "the installer ended with exit code 3", false],
  ["the stream broke off", "unknown", "upgrade failed: installer image", false],
] as const)
  test(`${name}: ${isGone ? "it is pulled again" : "no pull mends that"}`, () =>
    assert.equal(isImageGone({ at: 0, outcome, detail }), isGone));
