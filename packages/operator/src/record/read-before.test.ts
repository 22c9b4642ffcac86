import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failureKind, identityBefore } from "./read-before.ts";
import type { IdentityBefore } from "./read-before.ts";

const NOTHING: IdentityBefore = { uuid: "", macs: [], maintenanceKey: undefined };
const UUID = "4c4c4544-0042-3510-8052-b4c04f4d5131";
const MACS = ["52:54:00:00:00:01", "52:54:00:00:00:02"];
const KEY = "9xH0P8zTq1m4yJk2Wb6nRs3vUe5aLd7cFg+i/oQtYwE=";

/** What the release before has in the conditions of a TalosMachine, word for word. */
const identity: readonly (readonly [string, string, string, Partial<IdentityBefore>])[] = [
  ["IdentityUnique", "Unique", `Its UUID ${UUID} is its own.`, { uuid: UUID }],
  [
    "IdentityUnique",
    "UuidShared",
    `Another machine shows the UUID ${UUID} too. Hardware addresses tell them apart: ${MACS.join(", ")}.`,
    { uuid: UUID, macs: MACS },
  ],
  ["IdentityUnique", "UuidShared", `Another machine shows the UUID ${UUID} too.`, { uuid: UUID }],
  [
    "IdentityUnique",
    "UuidOfVendor",
    `Its UUID ${UUID} is one that vendors ship by the thousand. Hardware addresses tell it apart: ${MACS[0]}.`,
    { uuid: UUID, macs: MACS.slice(0, 1) },
  ],
  ["IdentityUnique", "UuidOfVendor", `Its UUID ${UUID} is one that vendors ship by the thousand.`, { uuid: UUID }],
  ["MaintenanceIdentityPinned", "AcceptedByPerson", `Machine key ${KEY} accepted by a person.`, { maintenanceKey: KEY }],
  [
    "MaintenanceIdentityPinned",
    "TrustedOnFirstUse",
    `Machine key ${KEY} of machine ${UUID} trusted on first use, not verified. Compare it with the machine's console.`,
    { maintenanceKey: KEY },
  ],
  [
    "MaintenanceIdentityPinned",
    "TrustedOnFirstUse",
    `Machine key ${KEY} trusted on first use, not verified. Compare it with the machine's console.`,
    { maintenanceKey: KEY },
  ],
  ["MaintenanceIdentityPinned", "NotSeenInMaintenance", "The machine was not seen in maintenance mode.", {}],
];

const read = (type: string, reason: string, message: string): IdentityBefore =>
  identityBefore([{ type, reason, message, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }]);

describe("who a machine is, from what the release before said", () => {
  test("of an object without conditions nothing is known", () => {
    assert.deepEqual(identityBefore(undefined), NOTHING);
    assert.deepEqual(identityBefore([]), NOTHING);
  });
  for (const [type, reason, message, want] of identity)
    test(message, () => assert.deepEqual(read(type, reason, message), { ...NOTHING, ...want }));
  for (const [type, reason, message, want] of identity)
    for (const [how, edited] of [
      ["with words before it", `See: ${message}`],
      ["with words after it", `${message} Ask Alice.`],
      ["in other letters", message.toLowerCase()],
      ["with another space", message.replace(" ", "  ")],
    ] as const)
      test(`nothing is read where somebody wrote ${JSON.stringify(want)} ${how}`, () =>
        assert.deepEqual(read(type, reason, edited), NOTHING));
  test("nothing is read of a sentence under another reason, or in another condition", () => {
    for (const [type, , message] of identity) {
      assert.deepEqual(read(type, "Other", message), NOTHING);
      assert.deepEqual(read("Ready", "AllReady", message), NOTHING);
    }
    const [own, shared] = identity;
    assert.deepEqual(read(own![0], shared![1], own![2]), NOTHING);
  });
});

describe("how settings failed, from what the release before wrote down", () => {
  for (const [why, want] of [
    ["it refused them: 1 error occurred: machine.sysctls: no such key", "refused"],
    ["it refused them: it tried them, and would not keep them (disk full)", "refused"],
    ["while it tried them, its Talos API does not answer as before (no answer in time); it took them back by itself", "reverted"],
    ["while it tried them, somebody else gave it another configuration, which is in force now", "reverted"],
    ["it runs the tried configuration and does not end the trial, and etcd on it is not healthy", "reverted"],
    ["it was booted during the trial, which ended it", "reverted"],
    ["it was booted during the trial, which ended it, 3 times", "reverted"],
    ["it took them back before it was told to keep them", "reverted"],
    ["it took them back before it was told to keep them, 3 times", "reverted"],
    ["after its reboot its node is not ready", "reverted"],
    ["its META may hold the new static network settings, and its node is not ready", "reverted"],
    ["nobody knows whether the configuration arrived; it is not in force", "unknown"],
    ["nobody knows whether the static network settings arrived; they are not in META", "unknown"],
    ["after the boot another configuration than the staged one is in force", "unknown"],
    // Edited by hand: nobody knows.
    ["It refused them: no such key", "unknown"],
    ["Alice says it refused them: no such key", "unknown"],
    ["it was booted during the trial, which ended it, says Alice", "unknown"],
    ["", "unknown"],
  ] as const)
    test(`${want}: ${why}`, () => assert.equal(failureKind({ configHash: "new", why }), want));

  test("is not looked for in the words where it is written down", () =>
    assert.equal(failureKind({ configHash: "new", kind: "unknown", why: "it refused them: no such key" }), "unknown"));
});
