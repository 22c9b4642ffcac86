import assert from "node:assert/strict";
import { test } from "node:test";
import { running, silent } from "../testing/builders.ts";
import { NodeNames } from "./node-names.ts";
import type { Hardware, Look } from "../model/look.ts";

const one: Hardware = { uuid: "a", macs: ["02:a"] };

/** The others with which `x` shares its Node, when `x` and `y` are seen so. */
function sharers(x: Look, y: Look): readonly string[] | undefined {
  const names = new NodeNames();
  names.saw("x", x);
  names.saw("y", y);
  const look = names.with("x", x);
  return look.kind === "running" ? look.sharesNode : undefined;
}

const on = (nodeName: string | undefined, hardware: Hardware | undefined): Look =>
  running(undefined, { ...(nodeName === undefined ? {} : { nodeName }), ...(hardware === undefined ? {} : { hardware }) });

for (const [title, theirs, want] of [
  ["another UUID", on("n", { uuid: "b", macs: ["02:b"] }), ["y"]],
  ["a clone of it", on("n", { uuid: "a", macs: ["02:b"] }), ["y"]],
  ["a container beside it", on("n", { uuid: undefined, macs: ["02:b"] }), ["y"]],
  ["itself under a second name", on("n", one), undefined],
  ["somebody whose hardware is not known", on("n", undefined), undefined],
  ["a machine with a Node of its own", on("m", { uuid: "b", macs: ["02:b"] }), undefined],
  ["a machine that reports none", on(undefined, { uuid: "b", macs: ["02:b"] }), undefined],
  ["a machine that is silent", silent, undefined],
] as const)
  test(`a machine and ${title}: ${want === undefined ? "it has its Node for itself" : "none has it"}`, () =>
    assert.deepEqual(sharers(on("n", one), theirs), want));

test("whoever is told something else by a look at another machine is named", () => {
  const names = new NodeNames();
  const other: Hardware = { uuid: "b", macs: ["02:b"] };
  assert.deepEqual(names.saw("x", on("n", one)), []);
  assert.deepEqual(names.saw("y", on("n", other)), ["x"]);
  assert.deepEqual(names.saw("y", on("n", other)), []);
  assert.deepEqual(names.saw("y", on("m", other)), ["x"]);
  assert.deepEqual(names.saw("y", on("n", other)), ["x"]);
  assert.deepEqual(names.forget("y"), ["x"]);
  assert.equal(names.with("x", on("n", one)).kind === "running" && "sharesNode" in names.with("x", on("n", one)), false);
});
