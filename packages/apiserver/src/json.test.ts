import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { cloneJson, depthExceeds, equalJson, holdsNull } from "./json.ts";

describe("JSON values", () => {
  it("copies any value into an equal one that shares nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = cloneJson(value);
        assert.ok(equalJson(copy, value));
        if (typeof value === "object" && value !== null) assert.notEqual(copy, value);
      }),
    );
  });

  it("keeps a key called __proto__ a key", () => {
    const copy = cloneJson(JSON.parse('{"__proto__":{"polluted":true}}') as object);
    assert.deepEqual(Object.keys(copy), ["__proto__"]);
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  it("finds 20,000 levels too deep without walking them recursively", () => {
    const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;
    assert.equal(depthExceeds(deep, 100), true);
    assert.equal(depthExceeds([[[1]]], 3), false);
    assert.equal(depthExceeds([[[[1]]]], 2), true);
  });

  it("finds a null wherever it stands", () => {
    assert.equal(holdsNull({ a: [{ b: [1, "null", {}, []] }] }), false);
    assert.equal(holdsNull({ a: [{ b: [1, null] }] }), true);
    assert.equal(holdsNull(JSON.parse('{"__proto__":{"a":null}}')), true);
  });

  it("ignores the order of keys and minds that of items", () => {
    assert.equal(equalJson({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }), true);
    assert.equal(equalJson([1, 2], [2, 1]), false);
    assert.equal(equalJson({ a: undefined }, {}), false);
    assert.equal(equalJson({ toString: 1 }, {}), false);
  });
});
