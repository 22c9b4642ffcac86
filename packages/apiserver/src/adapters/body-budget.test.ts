import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BodyBudget } from "./body-budget.ts";

const mebibyte = 1024 * 1024;
const refusal = { code: 429, reason: "TooManyRequests" };

describe("what bodies that are being read hold", () => {
  it("is at most 64 MiB of all users together, whoever they are", () => {
    const bodies = new BodyBudget();
    const rooms = Array.from({ length: 64 }, (_, index) => bodies.roomFor(`user-${index}`));
    for (const room of rooms) room.grow(mebibyte);
    assert.equal(bodies.heldBytes, 64 * mebibyte);
    assert.throws(() => bodies.roomFor("one-more").grow(1), refusal);
    assert.throws(() => rooms[0]?.grow(mebibyte + 1), refusal);
    rooms[0]?.release();
    bodies.roomFor("one-more").grow(mebibyte);
    assert.equal(bodies.heldBytes, 64 * mebibyte);
  });

  it("is at most 16 MiB of one user, and leaves the rest to others", () => {
    const bodies = new BodyBudget();
    for (let index = 0; index < 16; index += 1) bodies.roomFor("one").grow(mebibyte);
    assert.throws(() => bodies.roomFor("one").grow(1), refusal);
    bodies.roomFor("other").grow(mebibyte);
  });

  it("is given back once, however often that is said, and counts growth alone", () => {
    const bodies = new BodyBudget();
    const room = bodies.roomFor("one");
    room.grow(10);
    room.grow(30);
    assert.equal(bodies.heldBytes, 30);
    assert.throws(() => room.grow(65 * mebibyte), refusal);
    assert.equal(bodies.heldBytes, 30);
    room.release();
    room.release();
    assert.equal(bodies.heldBytes, 0);
  });
});
