import assert from "node:assert/strict";
import { test } from "node:test";
import { identityWords, pinnedWords } from "./identity.ts";
import type { IdentityKind } from "../model/assessment.ts";

for (const [kind, macs, want] of [
  ["own", ["a", "b"], "Unique: Its UUID u is its own."],
  ["shared", ["a", "b"], "UuidShared: Another machine shows the UUID u too. Hardware addresses tell them apart: a, b."],
  ["shared", [], "UuidShared: Another machine shows the UUID u too."],
  ["vendor", ["a"], "UuidOfVendor: Its UUID u is one that vendors ship by the thousand. Hardware addresses tell it apart: a."],
  ["vendor", [], "UuidOfVendor: Its UUID u is one that vendors ship by the thousand."],
  ["none", ["a"], "undefined: undefined"],
] as readonly (readonly [IdentityKind, readonly string[], string])[])
  test(`what is said of a UUID (${kind}) and ${macs.length} hardware address(es)`, () => {
    const words = identityWords(kind, { uuid: "u", macs });
    assert.equal(`${words?.reason}: ${words?.message}`, want);
  });

for (const [what, fact, want] of [
  ["nobody that is known", undefined, "NotSeenInMaintenance: The machine was not seen in maintenance mode."],
  ["one that was met configured", { spki: undefined, uuid: "u" }, "NotSeenInMaintenance: The machine was not seen in maintenance mode."],
  ["one that a person vouched for", { spki: "k", uuid: "u", vouchedAt: 1 }, "AcceptedByPerson: Machine key k accepted by a person."],
  [
    "one that nobody vouched for",
    { spki: "k", uuid: "u" },
    "TrustedOnFirstUse: Machine key k of machine u trusted on first use, not verified. Compare it with the machine's console.",
  ],
  [
    "one without a UUID",
    { spki: "k", uuid: "" },
    "TrustedOnFirstUse: Machine key k trusted on first use, not verified. Compare it with the machine's console.",
  ],
] as const)
  test(`what is said of the key of ${what}`, () => {
    const { reason, message } = pinnedWords(fact === undefined ? undefined : { vouchedAt: undefined, ...fact });
    assert.equal(`${reason}: ${message}`, want);
  });
