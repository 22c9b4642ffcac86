import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { poolMembers } from "./pool-members.ts";

const stays = (address?: string) => ({ address, leaves: false });
const leaves = (address?: string) => ({ address, leaves: true });

describe("members behind a shared address", () => {
  it("grow in the order in which control planes get addresses, and never shrink to the first one (V17)", () => {
    let list: readonly string[] = [];
    for (const machines of [
      [stays(), stays("b"), stays()],
      [stays("a"), stays("b"), stays()],
      [stays("a"), stays("b"), stays("c")],
      [stays("a"), stays(), stays()],
      [stays(), stays(), stays()],
    ]) {
      const next = poolMembers(list, machines);
      assert.deepEqual(next.slice(0, list.length), list);
      list = next;
    }
    assert.deepEqual(list, ["b", "a", "c"]);
  });

  it("lose one that leaves at once, and do not take it back while it lingers (V18)", () => {
    const list = poolMembers(["a", "b", "c"], [leaves("a"), stays("b"), stays()]);
    assert.deepEqual(list, ["b", "c"]);
    assert.deepEqual(poolMembers(list, [leaves("a"), stays("b"), stays("c"), stays("d")]), ["b", "c", "d"]);
    assert.deepEqual(poolMembers(["b", "c", "x"], [stays("b"), stays("c")]), ["b", "c"]);
  });

  it("are never emptied, and asking twice changes nothing", () => {
    assert.deepEqual(poolMembers(["a"], [leaves("a")]), ["a"]);
    const address = fc.option(fc.constantFrom("a", "b", "c", "d"), { nil: undefined });
    const machine = fc.record({ address, leaves: fc.boolean() });
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d")), fc.array(machine), (previous, machines) => {
        const once = poolMembers(previous, machines);
        assert.deepEqual(poolMembers(once, machines), once);
        assert.equal(once.length === 0 && previous.length > 0, false);
        assert.equal(new Set(once).size, once.length);
      }),
    );
  });
});
