import assert from "node:assert/strict";
import { test } from "node:test";
import { configured } from "../../testing/builders.ts";
import { memberHeld, resetHeld } from "./removal-held.ts";
import type { SlotHolder } from "../../disruption/control-plane-slot.ts";

test("what waits for a snapshot says so once", () => {
  const message = "Before these leave, a snapshot of etcd is taken (x): demo-10.0.0.1.";
  const holder: SlotHolder = {
    kind: "before-risk",
    machine: "demo-10.0.0.1",
    snapshot: { reason: "SnapshotAwaited", holds: true, message },
  };
  const fact = configured("10.0.0.1");
  assert.equal(resetHeld(fact, holder).message, `demo-10.0.0.1 leaves later. ${message}`);
  assert.equal(memberHeld(fact, holder).message, `The member of demo-10.0.0.1 is removed later. ${message}`);
});
