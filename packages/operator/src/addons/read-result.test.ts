import assert from "node:assert/strict";
import { test } from "node:test";
import type { AddonResult } from "@talos-operator/helm";
import { readAddonResult } from "./read-result.ts";

const revision = {
  number: 2,
  status: "deployed",
  chartVersion: "1.2.3",
  appVersion: "9",
  at: 1_795_000_000_000,
  inputs: "0123456789abcdef",
};
const chart = { name: "cni", version: "1.2.3", appVersion: "9", digest: "ab".repeat(32), kubeVersion: ">=1.30" };
const objects = { total: 3, workloads: [{ kind: "DaemonSet", namespace: "kube-system", name: "cni" }] } as const;
const helm = "v4.2.4";
const results: readonly AddonResult[] = [
  { kind: "applied", revision, chart, isNew: true, adopted: true, history: [revision], objects, helm },
  {
    kind: "applied",
    revision: { number: 1, status: "deployed", chartVersion: "1", at: 0 },
    chart: { name: "cni", version: "1", digest: "ab".repeat(32) },
    isNew: false,
    history: [],
    objects: { total: 0, workloads: [] },
    helm,
  },
  { kind: "rolled-back", revision, history: [revision], objects, helm },
  {
    kind: "inspected",
    revision: 2,
    drifted: [
      { object: "ConfigMap a/b", isGone: false, paths: ["data.text"], more: 2 },
      { object: "Service a/b", isGone: true, paths: [] },
    ],
    total: 7,
    helm,
  },
  { kind: "uninstalled", wasThere: false, helm },
  { kind: "failed", reason: "helm-not-found", message: "There is no helm.", mayRepeat: true },
  { kind: "failed", reason: "not-ready", message: "Not ready.", mayRepeat: true, chart, history: [revision], rolledBackTo: 1, helm },
];
for (const result of results)
  test(`a result: ${JSON.stringify(result).slice(0, 60)}`, () => assert.deepEqual(readAddonResult(JSON.stringify(result)), result));

/** A copy in which one field has another value, or none. */
function broken(value: object, path: readonly (string | number)[], wrong: unknown): string {
  const copy = structuredClone(value) as Record<string | number, unknown>;
  let at = copy;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  at[path.at(-1) ?? ""] = wrong;
  return JSON.stringify(copy);
}

/** Each field of a value, however deep. */
function fieldsOf(value: unknown, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Array.isArray(value) ? value.flatMap((one, at) => fieldsOf(one, [...path, at])) : [];
  const fields = Array.isArray(value) ? inner : Object.entries(value).flatMap(([name, one]) => fieldsOf(one, [...path, name]));
  return path.length === 0 ? fields : [path, ...fields];
}

for (const result of results)
  for (const path of fieldsOf(result))
    test(`no result: ${result.kind} whose ${path.join(".")} is of another form`, () => {
      assert.equal(readAddonResult(broken(result, path, null)), undefined);
      assert.equal(readAddonResult(broken(result, path, { other: [7] })), undefined);
    });

for (const message of [
  undefined,
  "",
  "{",
  "null",
  "7",
  "[]",
  "{}",
  '{"kind":"other"}',
  '{"kind":"constructor"}',
  '{"kind":"uninstalled","helm":"v4"}',
  '{"kind":"failed","reason":"toString","message":"x","mayRepeat":true}',
  JSON.stringify({ kind: "applied", revision, chart, isNew: true, history: [], objects }),
])
  test(`no result: ${message?.slice(0, 80)}`, () => assert.equal(readAddonResult(message), undefined));
