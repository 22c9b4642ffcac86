import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionFor } from "@talos-operator/api";
import { activityOf } from "./activity.ts";
import { judgedConditions } from "./kstatus.ts";

const ready = conditionFor("Ready", "AllReady", "x");
const settled = conditionFor("Progressing", "Settled", "x");
const upgrade = (reason: "Upgrading" | "DowngradeAsked") => conditionFor("UpgradePending", reason, "x");

for (const [name, conditions, want] of [
  ["is settled", [ready, settled], "Settled"],
  ["is upgraded while it is ready", [ready, conditionFor("Progressing", "UpgradingTalos", "x"), upgrade("Upgrading")], "UpgradingTalos"],
  [
    "waits for what is wrong with it",
    [conditionFor("Ready", "InvalidEndpoint", "x"), conditionFor("Progressing", "Blocked", "x")],
    "InvalidEndpoint",
  ],
  [
    "is ready and waits for a person",
    [ready, conditionFor("Progressing", "UpgradePending", "x"), upgrade("DowngradeAsked")],
    "DowngradeAsked",
  ],
  ["goes", [conditionFor("Ready", "Deleting", "x"), conditionFor("Deleting", "WaitingForChildren", "x")], "Deleting"],
  ["is paused", [conditionFor("Paused", "ReconcileModeDisable", "x"), ready], "Paused"],
  ["is told nothing of", [], undefined],
] as const)
  test(`the column STATUS of one that ${name}`, () =>
    assert.equal(activityOf(judgedConditions({ conditions, hasOpenEffect: false }, 1)), want));
