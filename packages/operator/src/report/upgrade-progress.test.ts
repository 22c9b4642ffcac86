import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../testing/builders.ts";
import { upgradeStatusOf, upgradesUnderWay } from "./upgrade-progress.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../model/record.ts";
import type { Observed, SentEffect } from "../model/observation.ts";
import type { SeenDrain } from "../model/workload.ts";
import type { Assessment } from "../model/assessment.ts";

const first = "demo-10.0.0.1";
const [before, asked] = ["v1.13.8", "v1.13.9"];

const OPEN: IntentFact = {
  what: "Reboot",
  machine: first,
  role: "controlplane",
  address: "10.0.0.1",
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
};

interface Given {
  readonly runs?: readonly string[];
  readonly intent?: Partial<IntentFact>;
  readonly fact?: Partial<MachineFact>;
  readonly facts?: Partial<ClusterFacts>;
  readonly sent?: Readonly<Record<string, Partial<SentEffect>>>;
  readonly isDrained?: boolean;
  readonly isSilent?: boolean;
  readonly isAboutSettings?: boolean;
  readonly asked?: string;
}

function given({ runs = [before, before, before], intent, fact = {}, facts: more = {}, sent = {}, ...rest }: Given): Assessment {
  const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
  const open: readonly IntentFact[] =
    intent === undefined
      ? []
      : [
          {
            ...OPEN,
            ...(rest.isAboutSettings === true ? {} : { talosVersion: asked, talosBefore: before }),
            ...intent,
          },
        ];
  const drain: SeenDrain = { startedAt: NOW, askedAt: NOW, ranMs: 0, unreachableMs: 0, state: undefined };
  const over: Partial<Observed> = {
    sent: new Map(Object.entries(sent).map(([key, one]) => [key, { at: NOW, outcome: "answered", detail: "", ...one }])),
    ...(rest.isDrained === true ? { drains: new Map([[first, drain]]) } : {}),
  };
  const seen = observed({
    controlPlane: controlPlane(3, { version: rest.asked ?? asked }),
    facts: facts({
      bootstrapDone: founded,
      machines: addresses.map((address, index) => ({ ...configured(address), ...(index === 0 ? fact : {}) })),
      intents: open,
      ...more,
    }),
    looks: Object.fromEntries(
      addresses.map((address, index) => [
        address,
        rest.isSilent === true && index === 0 ? silent : running(member(index, 3), { version: runs[index] ?? before }),
      ]),
    ),
  });
  return assess({ ...seen, ...over });
}

const installed = { installed: { version: asked, before, bootId: "x" } };
const cases: readonly { readonly name: string; readonly given: Given; readonly stage: string | undefined }[] = [
  { name: "one that waits for its turn", given: {}, stage: undefined },
  { name: "its installer is being pulled", given: { sent: { [`PullInstaller/${first}`]: {} } }, stage: "Pulling" },
  {
    name: "it could not be pulled, and will be once more",
    given: { sent: { [`PullInstaller/${first}`]: {}, [`PullInstallerEnded/${first}`]: { outcome: "refused" } } },
    stage: "Pulling",
  },
  {
    name: "its installer is there",
    given: { sent: { [`PullInstaller/${first}`]: {}, [`PullInstallerEnded/${first}`]: {} } },
    stage: undefined,
  },
  { name: "it is being installed", given: { intent: { what: "InstallTalos" } }, stage: "Installing" },
  { name: "it is installed", given: { fact: installed }, stage: "Installed" },
  { name: "its Node is drained", given: { fact: installed, isDrained: true }, stage: "Draining" },
  { name: "a drain before anything was installed is about something else", given: { isDrained: true }, stage: undefined },
  { name: "it boots", given: { intent: {}, isSilent: true, fact: installed }, stage: "Booting" },
  { name: "it boots by the call of older releases", given: { intent: { what: "UpgradeTalos" } }, stage: "Booting" },
  { name: "it runs and is watched", given: { intent: { provenAt: NOW }, runs: [asked, before, before] }, stage: "BakeTime" },
  { name: "it goes back", given: { intent: { rollsBackFrom: "x" } }, stage: "RollingBack" },
  {
    name: "it failed there",
    given: { facts: { quarantine: [{ version: asked, machine: first, at: NOW, why: "It fell back." }] } },
    stage: "Failed",
  },
  {
    name: "it failed there with a version that nobody asks for any more",
    given: { asked: before, facts: { quarantine: [{ version: asked, machine: first, at: NOW, why: "It fell back." }] } },
    stage: undefined,
  },
  { name: "a boot that is about settings", given: { intent: {}, isAboutSettings: true }, stage: undefined },
];

for (const { name, given: one, stage } of cases)
  test(`on the way to another Talos: ${name}`, () => {
    const row = upgradesUnderWay(given(one)).get(first);
    assert.equal(row?.stage, stage);
    if (row !== undefined) assert.deepEqual([row.from, row.to], [before, asked]);
  });

test("an upgrade is counted by machines that are through with it", () => {
  const status = (one: Given): unknown => {
    const assessed = given(one);
    return upgradeStatusOf(assessed, assessed.seen.machines);
  };
  const booting = [{ machine: first, from: before, to: asked, stage: "Booting" }];
  assert.deepEqual(status({}), { done: 0, machines: 3, progress: "0/3" });
  assert.deepEqual(status({ runs: [before, asked, asked], intent: {}, isSilent: true }), {
    done: 2,
    machines: 3,
    progress: "2/3",
    underWay: booting,
  });
  assert.equal(status({ runs: [asked, asked, asked] }), undefined, "all run it");
  assert.equal(status({ asked: before }), undefined, "nothing is asked for");
  assert.equal(status({ asked: "v1.9.0" }), undefined, "nothing leads there");
});
