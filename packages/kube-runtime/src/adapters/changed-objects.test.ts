import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ChangedObjects, createChangedObjects } from "./changed-objects.ts";
import { createPaths } from "./json-paths.ts";

const kib = 1_024;

/** An event of an object whose JSON has so many bytes. Returns whether the object is remembered behind it. */
function change(objects: ChangedObjects, hint: number, size = 1_000): boolean {
  const object = objects.changed(hint);
  if (object === undefined) return false;
  const text = Buffer.alloc(size + 2, 120);
  objects.remember(object, text, 1, size + 1, {});
  return true;
}

describe("the objects that change again and again", () => {
  it("are remembered from their second event on", () => {
    const objects = createChangedObjects(64 * kib);
    assert.equal(change(objects, 1), false);
    assert.equal(objects.bytes, 0);
    assert.equal(change(objects, 1), true);
    assert.equal(objects.changed(1)?.known?.bytes.toString("latin1", 0, 1_000), "x".repeat(1_000));
  });

  it("have bytes of their own, written over where the next ones fit", () => {
    const objects = createChangedObjects(64 * kib);
    change(objects, 1);
    const object = objects.changed(1);
    assert.ok(object);
    const chunk = Buffer.alloc(64 * kib, 97);
    objects.remember(object, chunk, 10, 110, {});
    const first = object.known?.bytes;
    assert.ok(first !== undefined && first.buffer !== chunk.buffer && first.buffer.byteLength < 200);
    objects.remember(object, chunk.fill(98), 10, 60, {});
    assert.equal(object.known?.bytes, first);
    assert.equal(object.known.length, 50);
    objects.remember(object, chunk, 10, 1_010, {});
    assert.notEqual(object.known.bytes, first);
    assert.equal(object.known.bytes.toString("latin1", 0, 1_000), "b".repeat(1_000));
  });

  it("are forgotten above the bound, those first that did not change for the longest time", () => {
    const objects = createChangedObjects(20 * kib);
    for (const hint of [1, 2, 3, 4]) for (let count = 0; count < 2; count += 1) change(objects, hint, 3 * kib);
    change(objects, 1, 3 * kib);
    // The fifth comes twice while the second does not come at all.
    for (let count = 0; count < 2; count += 1) change(objects, 5, 4_500);
    assert.ok(objects.bytes <= 20 * kib);
    const known = [1, 2, 3, 4, 5].filter((hint) => objects.changed(hint)?.known !== undefined);
    assert.deepEqual(known, [1, 3, 4, 5]);
  });

  it("never take more than the bound, whatever comes", () => {
    const objects = createChangedObjects(100 * kib);
    for (let count = 0; count < 20_000; count += 1) {
      change(objects, 1 + ((count * 7_919) % 300), (count * 31) % (8 * kib));
      if (count % 17 === 0) objects.forget(1 + (count % 300));
      assert.ok(objects.bytes <= 100 * kib);
    }
    for (let hint = 1; hint <= 300; hint += 1) objects.forget(hint);
    assert.equal(objects.bytes, 0);
  });

  it("take no more than the bound also when nothing of them is worth remembering", () => {
    const objects = createChangedObjects(100 * kib);
    for (let hint = 1; hint <= 2_000; hint += 1) for (let count = 0; count < 2; count += 1) objects.changed(hint);
    assert.ok(objects.bytes <= 100 * kib);
  });

  it("are counted with the places of what changed in them", () => {
    const objects = createChangedObjects(64 * kib);
    change(objects, 1);
    change(objects, 1);
    const [object, before] = [objects.changed(1), objects.bytes];
    assert.ok(object?.known);
    for (let place = 0; place < 100; place += 1) object.known.paths.push(createPaths().whole);
    objects.remember(object, Buffer.alloc(1_000), 0, 1_000, {});
    assert.ok(objects.bytes >= before + 100 * 64);
  });

  it("are not remembered when one alone would take most of the room", () => {
    const objects = createChangedObjects(100 * kib);
    for (const hint of [1, 1, 2, 2, 2]) change(objects, hint, hint === 1 ? kib : 40 * kib);
    assert.deepEqual([objects.changed(1)?.known !== undefined, objects.bytes <= 4 * kib], [true, true]);
  });

  it("stay, as many as there is room for, where more change in turn", () => {
    const objects = createChangedObjects(100 * kib);
    let remembered = 0;
    for (let count = 0; count < 3_000; count += 1) if (change(objects, 1 + (count % 300)) && count >= 2_700) remembered += 1;
    assert.ok(remembered > 30, `${remembered} of 300`);
  });

  it("are all remembered where there is room, also where hints are alike", () => {
    const objects = createChangedObjects(4 * kib * kib);
    const hints = Array.from({ length: 500 }, (_, index) => Math.imul(index + 1, 0x9e3779b1));
    for (let count = 0; count < 4; count += 1) for (const hint of hints) change(objects, hint);
    assert.equal(hints.filter((hint) => objects.changed(hint)?.known !== undefined).length, 500);
  });

  it("are left alone for longer and longer when their JSON is always another", () => {
    const objects = createChangedObjects(64 * kib);
    const attempts: number[] = [];
    change(objects, 1);
    for (let event = 2; event < 600; event += 1) {
      const object = objects.changed(1);
      assert.ok(object);
      if (object.known !== undefined) {
        attempts.push(event);
        objects.failed(object);
      }
      if (object.wait > 0) object.wait -= 1;
      else objects.remember(object, Buffer.alloc(100), 0, 100, {});
    }
    assert.deepEqual(attempts, [3, 4, 21, 278, 535]);
  });
});
