import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { findByJsonPath, JsonPathError, parseJsonPath } from "./json-path.ts";

const object = {
  spec: { "a.b": "dotted", 'quo"ted': "q", __proto__: undefined, constructor: "own" },
  status: {
    addresses: [
      { type: "Hostname", address: "node-1" },
      { type: "InternalIP", address: "10.0.0.1", index: 1, isFirst: true },
      { type: "ExternalIP", address: "192.0.2.7" },
    ],
    interfaces: [{ ips: ["10.0.0.1", "fd00::1"] }, { ips: ["10.0.0.2"] }],
    nothing: null,
    count: 3,
  },
};

const found: readonly (readonly [path: string, values: readonly unknown[]])[] = [
  [".status.addresses[1].address", ["10.0.0.1"]],
  ["status.addresses[1].address", ["10.0.0.1"]],
  ["{.status.addresses[1].address}", ["10.0.0.1"]],
  [" { .status.count } ", [3]],
  ["$.status.count", [3]],
  [".status.addresses[-1].address", ["192.0.2.7"]],
  [".status.addresses[7].address", []],
  [".status.addresses[0:2].type", ["Hostname", "InternalIP"]],
  [".status.addresses[-2:].type", ["InternalIP", "ExternalIP"]],
  ['.status.addresses[?(@.type=="InternalIP")].address', ["10.0.0.1"]],
  [".status.addresses[?(@.type=='InternalIP')].address", ["10.0.0.1"]],
  ['.status.addresses[?( @.type != "Hostname" )].address', ["10.0.0.1", "192.0.2.7"]],
  [".status.addresses[?(@.index==1)].address", ["10.0.0.1"]],
  [".status.addresses[?(@.isFirst==true)].address", ["10.0.0.1"]],
  [".status.addresses[?(@.index)].address", ["10.0.0.1"]],
  [".status.interfaces[*].ips[0]", ["10.0.0.1", "10.0.0.2"]],
  [".status.interfaces[*].ips[*]", ["10.0.0.1", "fd00::1", "10.0.0.2"]],
  [".status.interfaces..ips[0]", ["10.0.0.1", "10.0.0.2"]],
  ["..count", [3]],
  [".spec['a.b']", ["dotted"]],
  ['.spec["a.b"]', ["dotted"]],
  [".spec.a\\.b", ["dotted"]],
  [".spec['quo\"ted']", ["q"]],
  [".spec.constructor", ["own"]],
  [".status.constructor", []],
  [".status.__proto__", []],
  [".status.nothing", [null]],
  [".status.nothing.deeper", []],
  [".status.missing[0].address", []],
];

const refused: readonly string[] = [
  "",
  "{}",
  ".",
  ".status.",
  ".status..",
  ".status[",
  ".status[]",
  ".status[a]",
  ".status[0",
  ".status['a]",
  '.status[?(@.type=~"x")]',
  '.status[?(@.type=="a" || @.type=="b")]',
  ".status[(@.length-1)]",
  "{.a}{.b}",
  "text {.a}",
  "{range .items[*]}",
  ".a b",
  ".a|.b",
  `.${"a".repeat(1_100)}`,
  "[99999999999]",
];

describe("paths to a value in an object", () => {
  for (const [path, values] of found)
    test(`${path} leads to ${JSON.stringify(values)}`, () => assert.deepEqual(findByJsonPath(parseJsonPath(path), object), values));
  for (const path of refused)
    test(`${JSON.stringify(path.slice(0, 40))} is refused`, () => assert.throws(() => parseJsonPath(path), JsonPathError));

  test("any text is read or refused, and any path is followed through any object", () => {
    const paths = fc.oneof(
      fc.string(),
      fc.constantFrom(...found.map(([path]) => path)),
      fc.stringMatching(/^[.[\]'"*a-z0-9:?(@=)-]{0,24}$/),
    );
    fc.assert(
      fc.property(paths, fc.jsonValue(), (text, value) => {
        try {
          findByJsonPath(parseJsonPath(text), value);
        } catch (thrown) {
          assert.ok(thrown instanceof JsonPathError, String(thrown));
        }
      }),
    );
  });

  test("an object that nests as deep as an API server allows is searched without running out of stack, and no more than 1,000 values come back", () => {
    let deep: unknown = { a: "10.0.0.1" };
    for (let level = 0; level < 20_000; level += 1) deep = { b: deep };
    assert.ok(findByJsonPath(parseJsonPath("..a"), deep).length <= 1_000);
    assert.equal(
      findByJsonPath(
        parseJsonPath("[*]"),
        Array.from({ length: 5_000 }, () => 1),
      ).length,
      1_000,
    );
  });
});
