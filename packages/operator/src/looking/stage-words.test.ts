import assert from "node:assert/strict";
import { it } from "node:test";
import { isComingUp, stageWords } from "./stage-words.ts";

for (const [stage, words, comingUp] of [
  ["installing", "Installing Talos", true],
  ["booting", "Booting", true],
  ["rebooting", "Rebooting", true],
  ["upgrading", "Upgrading Talos", true],
  ["shutting down", "Shutting down", false],
  ["resetting", "Resetting", false],
  ["running", "Running", false],
  ["a stage of tomorrow", "Stage a stage of tomorrow", false],
  [undefined, "State unknown", false],
] as const)
  it(`says ${words} for the stage ${stage ?? "that is not shown"}`, () => {
    assert.equal(stageWords(stage), words);
    assert.equal(isComingUp({ stage, unmet: [] }), comingUp);
  });

it("waits for what a machine lacks that boots, whatever it boots with", () =>
  assert.equal(isComingUp({ stage: "booting", unmet: [{ name: "services", reason: "kubelet" }] }), false));
