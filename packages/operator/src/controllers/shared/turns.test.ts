import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@talos-operator/api";
import { turnsOf } from "./turns.ts";

const saying = (type: string, status: string): { readonly conditions: readonly Condition[] } => ({
  conditions: [{ type, status, reason: "R", message: `${type} ${status}`, lastTransitionTime: "2026-01-01T00:00:00Z" } as Condition],
});

for (const { type, from, to, tells } of [
  { type: "Ready", from: "False", to: "True", tells: ["Ready"] },
  { type: "Ready", from: undefined, to: "True", tells: ["Ready"] },
  { type: "Ready", from: "True", to: "True", tells: [] },
  { type: "Ready", from: "True", to: "Unknown", tells: ["NotReady"] },
  { type: "Ready", from: undefined, to: "False", tells: [] },
  { type: "Ready", from: "Unknown", to: "False", tells: [] },
  { type: "UpgradePending", from: undefined, to: "True", tells: ["UpgradePending"] },
  { type: "UpgradePending", from: "True", to: undefined, tells: [] },
  { type: "EtcdHealthy", from: "True", to: "False", tells: ["EtcdUnhealthy"] },
  { type: "EtcdHealthy", from: "Unknown", to: "True", tells: ["EtcdHealthy"] },
  { type: "Progressing", from: "False", to: "True", tells: [] },
] as const)
  test(`${type} from ${from ?? "nothing"} to ${to ?? "nothing"}: ${tells.join() || "no event"}`, () => {
    const status = (word: string | undefined): { readonly conditions: readonly Condition[] } =>
      word === undefined ? { conditions: [] } : saying(type, word);
    assert.deepEqual(
      turnsOf(from === undefined ? undefined : status(from), status(to)).map(({ reason }) => reason),
      tells,
    );
  });

test("that etcd is unhealthy is reported once more when only a person can release it", () => {
  const etcd = (status: string, reason: string): { readonly conditions: readonly Condition[] } => ({
    conditions: [{ type: "EtcdHealthy", status, reason, message: reason, lastTransitionTime: "2026-01-01T00:00:00Z" } as Condition],
  });
  const [well, goesOn, stopped, corrupt] = [
    etcd("True", "AllMembersHealthy"),
    etcd("False", "NoSpace"),
    etcd("False", "NoSpaceStopped"),
    etcd("False", "DataCorrupt"),
  ];
  const told = (before: typeof well, after: typeof well): readonly string[] => turnsOf(before, after).map(({ note }) => note);
  assert.deepEqual(told(well, goesOn), ["NoSpace"]);
  assert.deepEqual(told(goesOn, stopped), ["NoSpaceStopped"]);
  assert.deepEqual(told(well, stopped), ["NoSpaceStopped"]);
  assert.deepEqual(told(stopped, stopped), []);
  assert.deepEqual(told(stopped, corrupt), ["DataCorrupt"]);
  assert.deepEqual(told(stopped, goesOn), []);
});
