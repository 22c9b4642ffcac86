import assert from "node:assert/strict";
import { test } from "node:test";
import { newsOf } from "./news.ts";
import type { NewsContext } from "./news.ts";
import type { ClusterFacts, DecisionFact, IntentFact, MachineFact } from "../model/record.ts";

const machine = (over: Partial<MachineFact> = {}): MachineFact => ({
  name: "m1",
  role: "worker",
  address: "10.0.0.1",
  uuid: "u1",
  macs: [],
  spki: "KEY",
  platform: "metal",
  installDisk: "/dev/sda",
  configHash: "h",
  pinnedAt: 1,
  vouchedAt: undefined,
  configuredAt: 2,
  releasedAt: undefined,
  ...over,
});
const intent = (what: IntentFact["what"]): IntentFact => ({
  what,
  machine: "m1",
  address: "10.0.0.1",
  uuid: "u1",
  role: "worker",
  at: 3,
  deadline: 4,
  why: "",
});
const decision = (action: string, reason: string): DecisionFact => ({ at: 3, action, reason, machine: "m1", message: "why" });
const facts = (over: Partial<ClusterFacts> = {}): ClusterFacts =>
  ({
    machines: [machine()],
    intents: [],
    decisions: [],
    bootstrapIntent: undefined,
    bootstrapDone: undefined,
    ...over,
  }) as unknown as ClusterFacts;
const upgradeRun: NonNullable<ClusterFacts["operations"]>[number] = {
  id: "upgrade-talos-1",
  kind: "UpgradeTalos",
  phase: "controlplane v1.13.10",
  startedAt: 1,
  since: 1,
  inputs: { asked: "v1.13.10" },
};
const asked = { machine: "m1", address: "10.0.0.1", uuid: "u1", at: 1, deadline: 2 };
const done = { machine: "m1", address: "10.0.0.1", uuid: "u1", at: 2, evidence: "" };

const context: NewsContext = { drained: new Set(), now: 103_000, count: () => ({ done: 1, machines: 6 }) };

const cases: readonly {
  readonly name: string;
  readonly before: ClusterFacts;
  readonly after: ClusterFacts;
  readonly want: readonly string[];
  readonly drained?: true;
}[] = [
  { name: "nothing changed", before: facts(), after: facts(), want: [] },
  {
    name: "a configuration was read back for the first time",
    before: facts(),
    after: facts({ machines: [machine({ appliedHash: "a" })] }),
    want: ["MachineJoined"],
  },
  {
    name: "the same of a machine that was met configured",
    before: facts({ machines: [machine({ spki: undefined })] }),
    after: facts({ machines: [machine({ spki: undefined, appliedHash: "a" })] }),
    want: [],
  },
  {
    name: "another configuration was read back",
    before: facts({ machines: [machine({ appliedHash: "a" })] }),
    after: facts({ machines: [machine({ appliedHash: "b" })] }),
    want: [],
  },
  {
    name: "etcd was bootstrapped",
    before: facts({ bootstrapIntent: asked }),
    after: facts({ bootstrapIntent: asked, bootstrapDone: done }),
    want: ["EtcdBootstrapped"],
  },
  { name: "etcd was found running", before: facts(), after: facts({ bootstrapDone: done }), want: [] },
  {
    name: "a reboot is over",
    before: facts({ intents: [intent("Reboot")] }),
    after: facts({ decisions: [decision("Reboot", "Booted")] }),
    want: ["MachineRebooted"],
  },
  {
    name: "a machine runs another Talos",
    before: facts({ intents: [intent("Reboot")] }),
    after: facts({ decisions: [decision("Reboot", "Upgraded")] }),
    want: ["MachineUpgraded"],
  },
  {
    name: "etcd is about to be away",
    before: facts(),
    after: facts({ decisions: [decision("Announce", "Outage")] }),
    want: ["ControlPlaneOutage"],
  },
  {
    name: "another Talos is installed",
    before: facts(),
    after: facts({ decisions: [decision("InstallTalos", "Installed")] }),
    want: ["TalosInstalled"],
  },
  { name: "an installation begins", before: facts(), after: facts({ decisions: [decision("InstallTalos", "VersionAsked")] }), want: [] },
  { name: "it is booted", before: facts(), after: facts({ decisions: [decision("Reboot", "VersionAsked")] }), want: ["TalosBooting"] },
  {
    name: "the Talos of before runs again",
    before: facts(),
    after: facts({ decisions: [decision("Reboot", "RolledBack")] }),
    want: ["MachineRolledBack"],
  },
  { name: "an upgrade begins", before: facts(), after: facts({ operations: [upgradeRun] }), want: ["UpgradeStarted"] },
  {
    name: "another hop of it begins",
    before: facts({ operations: [upgradeRun] }),
    after: facts({ operations: [{ ...upgradeRun, phase: "worker v1.13.10" }] }),
    want: [],
  },
  { name: "it is over", before: facts({ operations: [upgradeRun] }), after: facts(), want: ["UpgradeEnded"] },
  {
    name: "it failed",
    before: facts({ operations: [upgradeRun] }),
    after: facts({ quarantine: [{ version: "v1.13.10", machine: "m1", at: 3, why: "It fell back." }] }),
    want: [],
  },
  {
    name: "a machine failed with another Talos",
    before: facts({ intents: [intent("Reboot")] }),
    after: facts({ decisions: [decision("Reboot", "FellBack"), decision("Quarantine", "VersionFailed")] }),
    want: ["TalosVersionFailed"],
  },
  {
    name: "a boot into another Talos is refused, which is asked for again",
    before: facts({ intents: [{ ...intent("Reboot"), talosVersion: "v1.13.10" }] }),
    after: facts({ decisions: [decision("Reboot", "Refused")] }),
    want: [],
  },
  {
    name: "a reboot did not take place",
    before: facts({ intents: [intent("Reboot")] }),
    after: facts({ decisions: [decision("Reboot", "HeldBack")] }),
    want: [],
  },
  {
    name: "settings are in force",
    before: facts({ intents: [intent("ApplyConfig")] }),
    after: facts({ decisions: [decision("ApplyConfig", "Applied")] }),
    want: ["SettingsChanged"],
  },
  {
    name: "settings wait for a boot",
    before: facts({ intents: [intent("ApplyConfig")] }),
    after: facts({ decisions: [decision("ApplyConfig", "Staged")] }),
    want: [],
  },
  {
    name: "settings were taken back",
    before: facts({ intents: [intent("ApplyConfig")] }),
    after: facts({ decisions: [decision("ApplyConfig", "TakenBack")] }),
    want: ["ConfigApplyFailed"],
  },
  {
    name: "a drained machine is about to be wiped",
    before: facts(),
    after: facts({ intents: [intent("Reset")] }),
    want: ["MachineDrained"],
    drained: true,
  },
  { name: "one that needed no drain is about to be wiped", before: facts(), after: facts({ intents: [intent("Reset")] }), want: [] },
  {
    name: "its wipe goes on",
    before: facts({ intents: [intent("Reset")] }),
    after: facts({ intents: [intent("Reset")] }),
    want: [],
    drained: true,
  },
  {
    name: "it was wiped",
    before: facts({ intents: [intent("Reset")] }),
    after: facts({ machines: [machine({ releasedAt: 9 })], decisions: [decision("Release", "AnswersInMaintenance")] }),
    want: ["MachineRemoved", "MachineReset"],
  },
  {
    name: "it was let go as it is",
    before: facts(),
    after: facts({ machines: [machine({ releasedAt: 9 })], decisions: [decision("Release", "Preserved")] }),
    want: ["MachineRemoved"],
  },
  {
    name: "one that never was configured is let go",
    before: facts({ machines: [machine({ configuredAt: undefined })] }),
    after: facts({ machines: [machine({ configuredAt: undefined, releasedAt: 9 })] }),
    want: [],
  },
];

for (const { name, before, after, want, drained } of cases)
  test(`${name}: ${want.join(", ") || "no news"}`, () => {
    const news = newsOf(before, after, { ...context, drained: new Set(drained === true ? ["m1"] : []) });
    assert.deepEqual(
      news.map(({ reason }) => reason),
      want,
    );
  });

test("a decision that the record held before is no news", () => {
  const known = decision("Reboot", "Booted");
  assert.deepEqual(newsOf(facts({ decisions: [known] }), facts({ decisions: [known, decision("Wait", "x")] }), context), []);
});

const notesOf = (before: ClusterFacts, after: ClusterFacts, given: Partial<NewsContext> = {}): readonly string[] =>
  newsOf(before, after, { ...context, ...given }).map((news) => (news.kind === "left" ? news.reason : news.note));

test("what a machine is brought to is told by the version that its intent names", () => {
  const open = { ...intent("Reboot"), talosVersion: "v1.13.10" };
  const install = { ...intent("InstallTalos"), talosVersion: "v1.13.10" };
  assert.deepEqual(
    [
      ...notesOf(facts({ intents: [install] }), facts({ decisions: [decision("InstallTalos", "Installed")] })),
      ...notesOf(facts(), facts({ intents: [open], decisions: [decision("Reboot", "VersionAsked")] })),
      ...notesOf(facts({ intents: [open] }), facts({ decisions: [decision("Reboot", "Upgraded")] })),
    ],
    ["Installed Talos v1.13.10 on m1 (boots next).", "Booting m1 into Talos v1.13.10.", "Upgraded m1 to Talos v1.13.10."],
  );
});

test("an upgrade tells how many machines there are, which one is done, and how long all took", () => {
  const [one, two] = ["m1", "m2"].map((name) => ({ ...intent("Reboot"), machine: name, talosVersion: "v1.13.10" })) as [
    IntentFact,
    IntentFact,
  ];
  const under = facts({ operations: [upgradeRun], intents: [one, two] });
  const upgraded = [one, two].map(({ machine: name }) => ({ ...decision("Reboot", "Upgraded"), machine: name }));
  const count = (done: number) => ({ count: () => ({ done, machines: 6 }) });
  assert.deepEqual(
    [
      ...notesOf(facts(), facts({ operations: [upgradeRun] }), count(0)),
      ...notesOf(under, facts({ operations: [upgradeRun], decisions: upgraded }), count(5)),
      ...notesOf(facts({ operations: [upgradeRun] }), facts(), count(6)),
      ...notesOf(facts({ operations: [upgradeRun] }), facts(), { ...count(2), now: 1_800_000 }),
    ],
    [
      "Upgrade to Talos v1.13.10 started: 6 of 6 machines.",
      "Upgraded m1 to Talos v1.13.10 (4/6).",
      "Upgraded m2 to Talos v1.13.10 (5/6).",
      "Upgrade to Talos v1.13.10 completed: 6 of 6 machines in 103 s.",
      "Upgrade to Talos v1.13.10 ended before its last machine: 2 of 6 machines in 30 min.",
    ],
  );
});

test("a hop on the way is not counted as the machine's last one", () => {
  const open = { ...intent("Reboot"), talosVersion: "v1.12.9" };
  const [note] = notesOf(
    facts({ operations: [upgradeRun], intents: [open] }),
    facts({ operations: [upgradeRun], decisions: [decision("Reboot", "Upgraded")] }),
  );
  assert.equal(note, "Upgraded m1 to Talos v1.12.9.");
});
