import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownerStays } from "./owner-stays.ts";

describe("an owner as a cache shows it", () => {
  const known = { namespace: "default", name: "demo", uid: "a" };

  it("stays while the same object is there", () => assert.equal(ownerStays(known, { ...known, generation: 2 }), true));
  it("is gone when there is none", () => assert.equal(ownerStays(known, undefined), false));
  it("is gone when another object has its name", () => assert.equal(ownerStays(known, { ...known, uid: "b" }), false));
  it("goes when it is being deleted", () =>
    assert.equal(ownerStays(known, { ...known, deletionTimestamp: "2026-01-01T00:00:00Z" }), false));
});
