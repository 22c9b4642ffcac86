import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { conditionFor } from "@talos-operator/api";
import type { ReadyReason, TalosClusterAddonRelease } from "@talos-operator/api";
import type { ListedRun } from "../../workers/runner.ts";
import { turnsOf, waitsForTurn } from "./turns.ts";

const MINUTE = 60_000;
const release = (namespace: string, uid: string, reason?: ReadyReason): TalosClusterAddonRelease => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosClusterAddonRelease",
  metadata: { namespace, name: uid, uid },
  spec: { clusterRef: { name: "demo" } },
  ...(reason === undefined
    ? {}
    : { status: { conditions: [{ ...conditionFor("Ready", reason, "m", 1), lastTransitionTime: "2026-05-01T12:00:00Z" }] } }),
});
const run = (namespace: string, uid: string, hasEnded = false): ListedRun => ({
  name: uid,
  owner: { namespace, name: uid, uid },
  hasEnded,
});
const waits = (runs: readonly ListedRun[], others: readonly TalosClusterAddonRelease[] = [], minutes = 20): boolean =>
  waitsForTurn(turnsOf(release("mine", "u-1"), runs, others), minutes * MINUTE) !== undefined;

describe("the turn of a release", () => {
  for (const [what, isWaiting, runs, others, minutes] of [
    ["where nobody is at work", false, [], [], 600],
    ["where one of another namespace is", false, [run("other", "a")], [], 600],
    ["where one of its own is", false, [run("mine", "a")], [], 20],
    ["where one of its own is, and it may take long", true, [run("mine", "a")], [], 31],
    ["where one of its own is, and another namespace waits", true, [run("mine", "a")], [release("other", "b", "Installing")], 20],
    [
      "where one of its own is, and another namespace waits to uninstall",
      true,
      [run("mine", "a")],
      [release("other", "b", "Deleting")],
      20,
    ],
    ["where one of its own is, and its own namespace waits", false, [run("mine", "a")], [release("mine", "b", "Installing")], 20],
    ["where one of its own is, and all others are installed", false, [run("mine", "a")], [release("other", "b", "Installed")], 20],
    ["where two are at work", true, [run("other", "a"), run("third", "b")], [], 20],
    ["where those at work have ended", false, [run("mine", "a", true), run("mine", "b", true)], [release("other", "c", "Installing")], 600],
    ["where the run is its own", false, [run("mine", "u-1"), run("other", "b")], [], 600],
  ] as const)
    test(`${isWaiting ? "is waited for" : "has come"} ${what}`, () => assert.equal(waits(runs, others, minutes), isWaiting));
});
