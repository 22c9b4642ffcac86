import assert from "node:assert/strict";
import { test } from "node:test";
import { failureWords as words } from "./failures.ts";

const told: Readonly<Record<keyof typeof words, readonly [string, string]>> = {
  refused: [words.refused("no such key"), "it refused them: no such key"],
  notKept: [words.notKept("disk full"), "it refused them: it tried them, and would not keep them (disk full)"],
  trialStays: [words.trialStays("etcd is away"), "it runs the tried configuration and does not end the trial, and etcd is away"],
  bootedInTrial: [words.bootedInTrial(), "it was booted during the trial, which ended it"],
  unwellInTrial: [words.unwellInTrial("its node is not ready"), "while it tried them, its node is not ready; it took them back by itself"],
  replacedInTrial: [words.replacedInTrial(), "while it tried them, somebody else gave it another configuration, which is in force now"],
  notToldToKeep: [words.notToldToKeep(), "it took them back before it was told to keep them"],
  neverInForce: [words.neverInForce(), "nobody knows whether the configuration arrived; it is not in force"],
  neverOnDisk: [words.neverOnDisk(), "nobody knows whether the configuration arrived; it is not on the disk"],
  unwellAfterBoot: [words.unwellAfterBoot(undefined), "after its reboot it does not report its configuration"],
  otherAfterBoot: [words.otherAfterBoot(), "after the boot another configuration than the staged one is in force"],
  unwellWithMeta: [words.unwellWithMeta("it is silent"), "its META may hold the new static network settings, and it is silent"],
  neverInMeta: [words.neverInMeta(), "nobody knows whether the static network settings arrived; they are not in META"],
  times: [words.times("it was booted", 3), "it was booted, 3 times"],
};

for (const [what, [said, want]] of Object.entries(told)) test(`why settings are not in force (${what})`, () => assert.equal(said, want));

test("a machine that is not well after its reboot is told with what is wrong", () =>
  assert.equal(words.unwellAfterBoot("etcd on it is not healthy"), "after its reboot etcd on it is not healthy"));
