import assert from "node:assert/strict";
import { test } from "node:test";
import { isConfigError } from "@talos-operator/talos";
import { readConfigBase } from "./config-base.ts";

test("IN25: aliases of aliases are refused without being followed", () => {
  const bomb = [
    "a: &a0 [x, x, x, x, x, x, x, x, x, x]",
    ...Array.from({ length: 9 }, (_, level) => `b${level}: &a${level + 1} [${Array.from({ length: 10 }, () => `*a${level}`).join(", ")}]`),
  ].join("\n");
  const heap = process.memoryUsage().heapUsed;
  assert.throws(() => readConfigBase(bomb, "a test"), isConfigError);
  assert.ok(process.memoryUsage().heapUsed - heap < 16 * 1024 * 1024);
});

test("a config shows in print what it is, and none of its text", () => {
  const base = readConfigBase(
    "version: v1alpha1\nmachine:\n    type: worker\n    token: aaaaaa.bbbbbbbbbbbbbbbb\ncluster: {}\n",
    "ConfigMap a, key b",
  );
  assert.equal(base.machineType, "worker");
  assert.deepEqual(base.keys, ["machine.token"]);
  assert.doesNotMatch(JSON.stringify(base), /aaaaaa/);
});
