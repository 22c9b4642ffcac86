import assert from "node:assert/strict";
import { test } from "node:test";
import { bootsForSpace } from "./larger-quota.ts";
import { etcdMembership } from "../../assess/quorum.ts";
import { controlPlane, member, observed, running } from "../../testing/builders.ts";
import { changedQuota } from "../../testing/config-change.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { SeenAlarm, SeenEtcd } from "../../model/look.ts";

const GIB = 2 ** 30;
const known: KnownConfig = {
  kind: "known",
  at: 0,
  settings: "new",
  bootId: "b",
  version: "v1.13.9",
  activeHash: "",
  changes: [changedQuota(undefined, String(4 * GIB))],
  onDisk: "wanted",
};
const assessedOf = (inUseBytes: number, raised: readonly SeenAlarm[]): Pick<Assessment, "seen" | "etcdMembership"> => {
  const told = (index: number): SeenEtcd => ({ ...member(index, 3), raised, alarms: raised.map(() => "x"), dbInUseBytes: inUseBytes });
  const looks = Object.fromEntries([0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running(told(index))]));
  const seen = observed({ controlPlane: controlPlane(3), looks });
  return { seen, etcdMembership: etcdMembership(seen) };
};
const full: SeenAlarm = { member: "0000000000000001", kind: "no-space" };

for (const [what, raised, config, want, inUseBytes = 2 * GIB] of [
  ["files are full", [full], known, true],
  ["what is in use leaves no room below the larger one either", [full], known, false, 3.9 * GIB],
  ["no alarm stands", [], known, false],
  ["data differ as well", [full, { member: "0000000000000002", kind: "corrupt" }], known, false],
  ["the data of a member that is gone differed", [full, { member: "00000000000000ff", kind: "corrupt" }], known, false],
  ["files are full, and other settings wait", [full], { ...known, changes: [] }, false],
  ["files are full, and nobody knows what it runs", [full], undefined, false],
] as readonly (readonly [string, readonly SeenAlarm[], KnownConfig | undefined, boolean, number?])[])
  test(`a boot ${want ? "brings" : "does not bring"} the space that is waited for where ${what}`, () =>
    assert.equal(bootsForSpace(assessedOf(inUseBytes, raised), config), want));
