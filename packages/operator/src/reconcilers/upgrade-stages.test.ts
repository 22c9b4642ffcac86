import assert from "node:assert/strict";
import { test } from "node:test";
import { UpgradeStages } from "./upgrade-stages.ts";
import type { UpgradeProgress } from "../report/upgrade-progress.ts";

const cases: readonly {
  readonly name: string;
  readonly stages: readonly (UpgradeProgress["stage"] | "")[];
  readonly told: readonly string[];
}[] = [
  {
    name: "a machine that is upgraded",
    stages: ["Pulling", "Installing", "Installing", "Booting", "BakeTime", ""],
    told: ["Pulling 1", "Installing 2", "Booting 1", "BakeTime 1", "upgraded"],
  },
  {
    name: "one that is not well for a moment",
    stages: ["BakeTime", "Booting", "BakeTime", ""],
    told: ["BakeTime 1", "Booting 1", "BakeTime 1", "upgraded"],
  },
  { name: "one that has another hop", stages: ["BakeTime", "Pulling"], told: ["BakeTime 1", "upgraded"] },
  { name: "one that falls back", stages: ["Booting", "Failed", "Failed", ""], told: ["Booting 1", "failed"] },
  { name: "one that is rolled back", stages: ["Booting", "RollingBack", "Failed"], told: ["Booting 1", "failed", "RollingBack 1"] },
  { name: "what an earlier process saw fail", stages: ["Failed", ""], told: [] },
  { name: "an edit that is taken back", stages: ["Pulling", ""], told: ["Pulling 1"] },
];

for (const { name, stages, told } of cases)
  test(`figures of ${name}`, () => {
    const heard: string[] = [];
    const counters = {
      upgradeStageEnded: (stage: string, seconds: number) => void heard.push(`${stage} ${seconds}`),
      upgradeEnded: (result: string) => void heard.push(result),
    };
    const seen = new UpgradeStages();
    for (const [index, stage] of stages.entries()) {
      const row = { machine: "a", from: "v1.13.8", to: "v1.13.9" };
      seen.saw(stage === "" ? new Map() : new Map([["a", { ...row, stage }]]), index * 1_000, counters);
    }
    assert.deepEqual(heard, told);
  });
