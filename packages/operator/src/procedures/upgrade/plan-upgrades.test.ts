import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { releaseOf } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import { defaultRules } from "../../decide.ts";
import { foresee } from "../../planning/foresee.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent, worker } from "../../testing/builders.ts";
import { planUpgrades } from "./plan-upgrades.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { SeenNodes } from "../../model/workload.ts";
import type { Look } from "../../model/look.ts";
import type { Observed, SentEffect } from "../../model/observation.ts";
import type { ClusterFacts, IntentFact, MachineFact, OperationFact } from "../../model/record.ts";

const cp = (n: number): string => `demo-10.0.0.${n}`;
const wk = (n: number): string => `demo-workers-10.0.1.${n}`;
const asked = "v1.13.10";

interface Given {
  /** Control planes that run what is asked for already. */
  readonly areUpgraded?: boolean;
  readonly looks?: Record<string, Look>;
  readonly facts?: Partial<ClusterFacts>;
  readonly fact?: Readonly<Record<string, Partial<MachineFact>>>;
  readonly talos?: Readonly<Record<string, KnownConfig["talos"]>>;
  readonly args?: Readonly<Record<string, KnownConfig["arguments"]>>;
  /** What the spec asks for; default another version. */
  readonly version?: string;
  readonly over?: Partial<Observed>;
  readonly image?: string;
  /** Machines whose installer is in the store; default all. */
  readonly pulled?: readonly string[];
  /** Version of the installer in the store; default that which is asked for. */
  readonly inStore?: string;
  readonly maxUnavailable?: number;
}

const open = (machine: string, what: IntentFact["what"], over: Partial<IntentFact> = {}): IntentFact => ({
  what,
  machine,
  role: machine.startsWith("demo-workers") ? "worker" : "controlplane",
  address: machine.replace(/^demo-(workers-)?/, ""),
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
  ...over,
});
const step = { talosVersion: asked, talosBefore: "v1.13.9" };
const plain = { isStaged: false, manufacturer: "", product: "" };

function plan(given: Given): ReturnType<typeof planUpgrades> {
  const { seen, known } = seenOf(given);
  return planUpgrades(assess(seen), known);
}

function seenOf(given: Given): { readonly seen: Observed; readonly known: ClusterFacts } {
  const {
    areUpgraded = false,
    looks = {},
    facts: more = {},
    fact = {},
    talos = {},
    args = {},
    version = asked,
    over = {},
    image,
    maxUnavailable = 1,
  } = given;
  const names = [cp(1), cp(2), cp(3), wk(1), wk(2), wk(3)];
  const runs = (name: string): string => (areUpgraded && !name.startsWith("demo-workers") ? asked : "v1.13.9");
  const machines = names.map((name) => ({
    ...(name.startsWith("demo-workers")
      ? configured(name.replace("demo-workers-", ""), "worker", "demo-workers", { pool: "demo-workers" })
      : configured(name.replace("demo-", ""))),
    ...fact[name],
  }));
  const known = facts({ bootstrapDone: founded, machines, ...more });
  const machineSpec = { installDisk: "/dev/sda", ...(image === undefined ? {} : { image }) };
  const pool = controlPlane(3, { version });
  const workers = worker(3);
  const all: Record<string, Look> = Object.fromEntries([
    ...[0, 1, 2].map((n) => [`10.0.0.${n + 1}`, running(member(n, 3), { version: runs(cp(n + 1)) })] as const),
    ...[1, 2, 3].map((n) => [`10.0.1.${n}`, running(undefined, { version: "v1.13.9" })] as const),
  ]);
  const config = (name: string): KnownConfig => ({
    kind: "known",
    at: NOW,
    settings: "others",
    bootId: `boot-${name}`,
    version: runs(name),
    activeHash: "",
    changes: [],
    onDisk: "wanted",
    talos: talos[name] ?? { isStaged: false, manufacturer: "", product: "" },
    ...(args[name] === undefined ? {} : { arguments: args[name] }),
  });
  const sent = (given.pulled ?? names).map((name): [string, SentEffect] => [
    `PullInstallerEnded/${name}`,
    {
      at: NOW,
      outcome: "answered",
      detail: "",
      pulled: { asked: `ghcr.io/siderolabs/installer:${given.inStore ?? asked}`, stored: "ghcr.io/siderolabs/installer@sha256:0" },
    },
  ]);
  const seen: Observed = {
    ...observed({
      controlPlane: {
        ...pool,
        spec: { ...pool.spec, metalSpec: { ...pool.spec?.metalSpec, machineSpec } } as NonNullable<typeof pool.spec>,
      },
      workers: [
        {
          ...workers,
          spec: { ...workers.spec, version, rolloutStrategy: { rollingUpdate: { maxUnavailable } } } as NonNullable<typeof workers.spec>,
        },
      ],
      facts: known,
      looks: { ...all, ...looks },
    }),
    configs: new Map(names.map((name) => [name, config(name)])),
    sent: new Map(sent),
    ...over,
  };
  return { seen, known };
}

/** What is sent, and to whom. */
function sends(given: Given): readonly string[] {
  return plan(given).actions.map(
    (action) => `${action.kind} ${"machine" in action && typeof action.machine === "string" ? action.machine : ""}`,
  );
}

const isInstalledThere: Given = { fact: { [cp(2)]: { installed: { version: asked, before: "v1.13.9", bootId: `boot-${cp(2)}` } } } };
const listed = (over: Partial<SeenNodes>): SeenNodes => ({
  at: NOW,
  nodes: [],
  isAsking: false,
  isStale: false,
  cordoned: new Map(),
  ...over,
});

const grub = (names: readonly string[]): KnownConfig["arguments"] => ({ loader: "grub", bySettings: true, asked: names, lacks: [], names });
const ofImage = (names: readonly string[]): KnownConfig["arguments"] => ({ loader: "uki", bySettings: false, asked: [], lacks: [], names });
const lacks: KnownConfig["arguments"] = { loader: "grub", bySettings: true, asked: ["quiet"], lacks: ["quiet"], names: [] };
const built = (digit: string): Record<string, Look> => ({
  "10.0.0.2": running(member(1, 3), { version: "v1.13.9", schematic: digit === "" ? "none" : digit.repeat(64) }),
});
const workersBuilt = Object.fromEntries(
  [1, 2, 3].map((n) => [`10.0.1.${n}`, running(undefined, { version: "v1.13.9", schematic: "none" })]),
);
const lacking: Given = { version: "v1.13.9", looks: built(""), args: { [cp(2)]: lacks }, inStore: "v1.13.9" };
/** Another control plane runs that schematic. */
const shows = (digit: string): Pick<Given, "looks"> => ({
  looks: {
    "10.0.0.2": running(member(1, 3), { version: "v1.13.9", schematic: "1".repeat(64) }),
    "10.0.0.3": running(member(2, 3), { version: asked, schematic: digit.repeat(64) }),
  },
});

/** What the last control plane runs failed on it, and it never was ready with that: META still names what ran before. */
const broken = (quarantined: string, stage = "booting"): Given => ({
  looks: { "10.0.0.3": running(member(2, 3), { version: "v1.13.9", ready: false, stage }) },
  talos: { [cp(3)]: { ...plain, fallback: "Talos-v1.13.8.efi" } },
  facts: { quarantine: [{ version: "v1.13.9", machine: quarantined, at: NOW, why: "It failed." }] },
});

const cases: readonly (readonly [string, Given, readonly string[], RegExp?])[] = [
  ["installs on the first that follows", {}, [`InstallTalos ${cp(2)}`]],
  ["installs nothing from the image of another version", { inStore: "v1.13.11" }, [`PullInstaller ${cp(2)}`]],
  ["pulls first", { pulled: [] }, [`PullInstaller ${cp(2)}`]],
  ["brings another Talos to one that a Talos broke, before all others, in one call", broken(cp(3)), [`UpgradeTalos ${cp(3)}`]],
  ["brings it there too when its boot has ended", broken(cp(3), "running"), [`UpgradeTalos ${cp(3)}`]],
  ["brings nothing to one that is not well for another reason", broken(cp(2)), []],
  [
    "leaves the leader for the end",
    { looks: { "10.0.0.2": running(member(1, 3), { version: asked }), "10.0.0.3": running(member(2, 3), { version: asked }) } },
    [`InstallTalos ${cp(1)}`],
  ],
  [
    "boots what is installed before it installs on another one",
    { fact: { [cp(3)]: { installed: { version: asked, before: "v1.13.9", bootId: `boot-${cp(3)}` } } } },
    [`RebootMachine ${cp(3)}`],
  ],
  [
    "has the leader hand over before it boots",
    {
      looks: { "10.0.0.2": running(member(1, 3), { version: asked }), "10.0.0.3": running(member(2, 3), { version: asked }) },
      fact: { [cp(1)]: { installed: { version: asked, before: "v1.13.9", bootId: `boot-${cp(1)}` } } },
    },
    [`ForfeitLeadership ${cp(1)}`],
  ],
  ["begins nothing beside an open step", { facts: { intents: [open(cp(2), "InstallTalos", step)] } }, []],
  [
    "begins nothing beside another effect",
    { facts: { intents: [open(wk(1), "ApplyConfig")] } },
    [],
    /waits until demo-workers-10\.0\.1\.1 is done/,
  ],
  [
    "begins nothing while another control plane is no ready node",
    { looks: { "10.0.0.3": running(member(2, 3), { ready: false }) } },
    [],
    /10\.0\.0\.3 is not ready, and comes back first/,
  ],
  [
    "begins nothing while a control plane is not heard",
    { looks: { "10.0.0.3": silent } },
    [],
    /10\.0\.0\.3 does not report which Talos it runs/,
  ],
  [
    "begins nothing with a version that failed",
    { facts: { quarantine: [{ version: asked, machine: wk(3), at: NOW, why: "It failed.", product: "Box" }] } },
    [],
    /failed on demo-workers-10\.0\.1\.3 \(Box\).*lift-quarantine: v1\.13\.10/,
  ],
  [
    "takes nothing back elsewhere after a version failed",
    {
      facts: { quarantine: [{ version: asked, machine: wk(3), at: NOW, why: "It failed." }] },
      fact: { [wk(1)]: { installed: { version: "v1.13.11", before: "v1.13.9", bootId: `boot-${wk(1)}` } } },
    },
    [],
    /failed on demo-workers-10\.0\.1\.3/,
  ],
  [
    "takes back what is not asked for any more",
    { fact: { [wk(1)]: { installed: { version: "v1.13.11", before: "v1.13.9", bootId: `boot-${wk(1)}` } } } },
    [],
    /v1\.13\.11 is installed on demo-workers-10\.0\.1\.1 and not asked for any more/,
  ],
  [
    "drains a machine before it takes back what is installed on it",
    {
      fact: { [wk(1)]: { installed: { version: "v1.13.11", before: "v1.13.9", bootId: `boot-${wk(1)}` } } },
      over: { drains: new Map() },
    },
    [`CordonAndDrain ${wk(1)}`],
  ],
  [
    "boots nothing by Nodes that were listed long ago, and lists them",
    { ...isInstalledThere, over: { nodes: listed({ listedAt: NOW - 61_000, at: NOW - 61_000 }) } },
    ["LookAtNodes "],
    /10\.0\.0\.2 is drained next/,
  ],
  [
    "boots nothing while the cluster's own API does not list its Nodes, and says so",
    { ...isInstalledThere, over: { nodes: listed({ listedAt: NOW - 61_000, isUnanswered: true }) } },
    [],
    /10\.0\.0\.2 is next: the cluster's own API does not list its Nodes/,
  ],
  [
    "boots what is installed where Nodes were listed a moment ago, although nobody answers now",
    { ...isInstalledThere, over: { nodes: listed({ listedAt: NOW - 59_000, isUnanswered: true }) } },
    [`RebootMachine ${cp(2)}`],
  ],
  [
    "leaves its own machine for the end, after the leader of etcd",
    {
      looks: {
        "10.0.0.1": running(member(0, 3), { nodeName: "node-1" }),
        "10.0.0.2": running(member(1, 3), { version: asked }),
        "10.0.0.3": running(member(2, 3), { nodeName: "node-3" }),
      },
      over: {
        nodes: { at: NOW, nodes: [], isAsking: false, isStale: false, cordoned: new Map(), own: { kind: "here", name: "node-3" } },
      },
    },
    [`InstallTalos ${cp(1)}`],
  ],
  ["begins nothing right after a takeover", { over: { mayDisturb: false } }, [], /earlier leader/],
  ["leaves a paused machine alone", { over: { held: new Set([cp(2)]) } }, [], /10\.0\.0\.2 is next: it is paused/],
  [
    "installs nothing over what somebody else installed",
    { talos: { [cp(2)]: { isStaged: false, manufacturer: "", product: "", fallback: "Talos-v1.13.9.efi" } } },
    [],
    /somebody else installed a Talos on it .*no machine reports which.*talosctl reboot.*if it runs v1\.13\.10 .*talosctl rollback/,
  ],
  [
    "installs nothing over what is staged",
    { talos: { [cp(2)]: { isStaged: true, manufacturer: "", product: "" } } },
    [],
    /somebody else installed a Talos on it/,
  ],
  [
    "takes no image that the firmware would not start",
    { talos: { [cp(2)]: { isStaged: false, manufacturer: "", product: "", isSecureBoot: true } } },
    [],
    /10\.0\.0\.2 is next: it boots with Secure Boot, .*name an installer-secureboot/,
  ],
  [
    "takes one that is made for Secure Boot",
    {
      talos: { [cp(2)]: { isStaged: false, manufacturer: "", product: "", isSecureBoot: true } },
      image: `factory.talos.dev/metal-installer-secureboot/${"1".repeat(64)}`,
      pulled: [],
    },
    [`PullInstaller ${cp(2)}`],
  ],
  [
    "takes none that is made for it where GRUB starts the machine",
    {
      args: { [cp(2)]: grub([]) },
      image: `factory.talos.dev/metal-installer-secureboot/${"1".repeat(64)}`,
    },
    [],
    /GRUB starts it, and .*name an installer that is not/,
  ],
  [
    "takes one that is made for it where systemd-boot does, without Secure Boot",
    {
      args: { [cp(2)]: { loader: "uki", bySettings: false, asked: [] } },
      image: `factory.talos.dev/metal-installer-secureboot/${"1".repeat(64)}`,
      pulled: [],
    },
    [`PullInstaller ${cp(2)}`],
  ],
  [
    "keeps kernel arguments of the settings by the call that gives them to the installer",
    { args: { [cp(2)]: grub(["quiet"]) } },
    [`UpgradeTalos ${cp(2)}`],
  ],
  ["has none to keep", { args: { [cp(2)]: grub([]) } }, [`InstallTalos ${cp(2)}`]],
  [
    "has none to keep where the image brings them",
    { args: { [cp(2)]: { loader: "uki", bySettings: false, asked: ["quiet"], lacks: ["quiet"] } } },
    [`InstallTalos ${cp(2)}`],
  ],
  [
    "claims nothing of kernel arguments where nobody tells by what it starts",
    { args: { [cp(2)]: { bySettings: false, asked: ["quiet"], lacks: [] } } },
    [],
    /its settings name kernel arguments \(quiet\), and it does not report whether they would still be there/,
  ],
  [
    "claims nothing of them where it does not tell what runs",
    { args: { [cp(2)]: { loader: "grub", bySettings: true, asked: ["quiet"] } } },
    [],
    /its settings name kernel arguments/,
  ],
  [
    "takes no image that is known to lack kernel arguments that run",
    {
      args: { [cp(2)]: ofImage(["noapic", "quiet"]), [cp(3)]: ofImage(["quiet"]) },
      image: `factory.talos.dev/metal-installer/${"2".repeat(64)}`,
      ...shows("2"),
    },
    [],
    /lacks the kernel arguments noapic, which run: name an image that has them, or annotate .*allow-kernel-argument-loss: noapic/,
  ],
  [
    "takes one that has them",
    {
      args: { [cp(2)]: ofImage(["quiet"]), [cp(3)]: ofImage(["quiet"]) },
      image: `factory.talos.dev/metal-installer/${"2".repeat(64)}`,
      pulled: [],
      ...shows("2"),
    },
    [`PullInstaller ${cp(2)}`],
  ],
  ["installs what runs where kernel arguments of the settings do not run", lacking, [`UpgradeTalos ${cp(2)}`]],
  [
    "installs nothing for them that is not known to be what runs",
    { ...lacking, looks: built("1") },
    [],
    /come with an installation of what runs.*it runs the schematic 1{64}\. Name its image/,
  ],
  [
    "gives them to one worker, however many may be down",
    {
      version: "v1.13.9",
      maxUnavailable: 3,
      looks: workersBuilt,
      args: Object.fromEntries([1, 2, 3].map((n) => [wk(n), lacks])),
      inStore: "v1.13.9",
    },
    [`UpgradeTalos ${wk(1)}`],
  ],
  ["takes no image of another version", { image: "example.org/installer:v1.13.9" }, [], /is not that of v1\.13\.10/],
  ["takes no image by a digest alone", { image: `example.org/installer@sha256:${"a".repeat(64)}` }, [], /by a digest alone/],
  ["goes on with one worker, the version being new to them", { areUpgraded: true, maxUnavailable: 3 }, [`InstallTalos ${wk(1)}`]],
  [
    "goes on with as many workers as may be down, once one is well with it",
    { areUpgraded: true, maxUnavailable: 2, looks: { "10.0.1.1": running(undefined, { version: asked }) } },
    [`InstallTalos ${wk(2)}`, `InstallTalos ${wk(3)}`],
  ],
  [
    "counts workers that are down anyway",
    {
      areUpgraded: true,
      maxUnavailable: 1,
      looks: { "10.0.1.1": running(undefined, { version: asked }), "10.0.1.3": silent },
    },
    [],
    /1 of at most 1 machine of demo-workers are down/,
  ],
];

const pausedWorker: Given = { areUpgraded: true, over: { held: new Set([wk(1)]) } };
/** One that was well with what is asked for: the others go beside each other. */
const provenWorker = { "10.0.1.1": running(undefined, { version: asked }) };

/** What the condition says to tools: nobody waits for what only a person does, and nobody is called for what passes. */
const reasons: readonly (readonly [string, Given, ReasonOf<"UpgradePending">])[] = [
  ["a machine is paused", { over: { held: new Set([cp(2)]) } }, "UpgradeBlocked"],
  ["the image has another tag", { image: "example.org/installer:v1.13.9" }, "UpgradeBlocked"],
  ["the image has a digest alone", { image: `example.org/installer@sha256:${"a".repeat(64)}` }, "UpgradeBlocked"],
  ["its firmware starts no such image", { talos: { [cp(2)]: { ...plain, isSecureBoot: true } } }, "UpgradeBlocked"],
  ["somebody else installed a Talos", { talos: { [cp(2)]: { ...plain, fallback: "A" } } }, "UpgradeBlocked"],
  ["somebody else staged a Talos", { talos: { [cp(2)]: { ...plain, isStaged: true } } }, "UpgradeBlocked"],
  ["the first worker is paused", pausedWorker, "UpgradeBlocked"],
  [
    "one worker is paused and another one goes on",
    { areUpgraded: true, maxUnavailable: 2, looks: provenWorker, over: { held: new Set([wk(2)]) } },
    "Upgrading",
  ],
  [
    "one worker is paused and another one is under way",
    {
      areUpgraded: true,
      maxUnavailable: 2,
      looks: provenWorker,
      over: { held: new Set([wk(2)]) },
      facts: { intents: [open(wk(3), "InstallTalos", step)] },
    },
    "Upgrading",
  ],
  [
    "one worker is paused and another one comes back by itself",
    {
      areUpgraded: true,
      maxUnavailable: 2,
      looks: { ...provenWorker, "10.0.1.3": running(undefined, { version: "v1.13.9", ready: false }) },
      over: { held: new Set([wk(2)]) },
    },
    "UpgradeWaits",
  ],
  ["another control plane is no ready node", { looks: { "10.0.0.3": running(member(2, 3), { ready: false }) } }, "UpgradeWaits"],
  ["an earlier leader may be at it", { over: { mayDisturb: false } }, "UpgradeWaits"],
];

const [one, another] = ["1".repeat(64), "2".repeat(64)];
const factory = (schematic: string): string => `factory.talos.dev/metal-installer/${schematic}`;

/** The last two workers form a pool of their own, with another image; the first of the first pool runs what is asked for. */
function twoPools(): Observed {
  const pool = (name: string, numbers: readonly number[], schematic: string): Observed["workers"][number] => {
    const from = worker(3);
    return {
      ...from,
      metadata: { ...from.metadata, name, uid: name },
      spec: {
        ...from.spec,
        version: asked,
        metalSpec: {
          machines: numbers.map((n) => ({ address: `10.0.1.${n}` })),
          machineSpec: { installDisk: "/dev/sda", image: factory(schematic) },
        },
        rolloutStrategy: { rollingUpdate: { maxUnavailable: 3 } },
      } as NonNullable<typeof from.spec>,
    };
  };
  const rows = [...[1, 2].map((n) => ["demo-workers", n] as const), ...[3, 4].map((n) => ["demo-others", n] as const)];
  const names = rows.map(([owner, n]) => `${owner}-10.0.1.${n}`);
  const known = facts({
    bootstrapDone: founded,
    machines: [
      ...[1, 2, 3].map((n) => configured(`10.0.0.${n}`)),
      ...rows.map(([owner, n]) => configured(`10.0.1.${n}`, "worker", owner, { pool: owner })),
    ],
  });
  const looks = Object.fromEntries([
    ...[1, 2, 3].map((n) => [`10.0.0.${n}`, running(member(n - 1, 3), { version: asked })] as const),
    ...rows.map(
      ([, n]) =>
        [
          `10.0.1.${n}`,
          running(undefined, n === 1 ? { version: asked, schematic: one } : { version: "v1.13.9", schematic: n === 2 ? one : another }),
        ] as const,
    ),
  ]);
  return {
    ...observed({
      controlPlane: controlPlane(3, { version: asked }),
      workers: [pool("demo-workers", [1, 2], one), pool("demo-others", [3, 4], another)],
      facts: known,
      looks,
    }),
    configs: new Map(
      names.map((name, index) => [
        name,
        {
          kind: "known",
          at: NOW,
          settings: "others",
          bootId: `boot-${name}`,
          version: index === 0 ? asked : "v1.13.9",
          activeHash: "",
          changes: [],
          onDisk: "wanted",
          talos: { isStaged: false, manufacturer: "", product: "", schematic: index < 2 ? one : another },
        } as const,
      ]),
    ),
  };
}

describe("what is done next about another Talos", () => {
  test("an image that a worker is well with proves no other one of its version", () => {
    const assessed = assess(twoPools());
    const { actions } = planUpgrades(assessed, assessed.facts ?? facts());
    assert.deepEqual(
      actions.map((action) => [action.kind, "machine" in action ? action.machine : ""]),
      [["PullInstaller", "demo-others-10.0.1.3"]],
    );
  });

  for (const [what, given, want, says] of cases)
    test(what, () => {
      assert.deepEqual(sends(given), want);
      if (says !== undefined) assert.match(plan(given).says, says);
    });

  for (const [what, given, reason] of reasons)
    test(`says ${reason} where ${what}`, () => {
      const { kind, reason: said } = plan(given);
      assert.equal(said, reason);
      assert.equal(kind === "stopped", releaseOf({ type: "UpgradePending", reason }) === "person");
    });

  test("a plan says every step of it beforehand", () => {
    const steps = foresee(seenOf({ pulled: [] }).seen, defaultRules).steps.filter(({ effect }) => effect !== "stored");
    assert.deepEqual(
      steps.map(({ action, machines }) => `${action} ${machines.join(" ")}`.trim()),
      [
        ...[cp(2), cp(3)].flatMap((name) => [`PullInstaller ${name}`, `InstallTalos ${name}`, `RebootMachine ${name}`, `Wait ${name}`]),
        `PullInstaller ${cp(1)}`,
        `InstallTalos ${cp(1)}`,
        `ForfeitLeadership ${cp(1)}`,
        `RebootMachine ${cp(1)}`,
        `Wait ${cp(1)}`,
        ...[wk(1), wk(2), wk(3)].flatMap((name) => [
          `PullInstaller ${name}`,
          `InstallTalos ${name}`,
          `RebootMachine ${name}`,
          `Wait ${name}`,
        ]),
      ],
    );
  });

  test("the run begins with its first step, and says so", () => {
    const { facts: next, kind } = plan({});
    assert.equal(kind, "running");
    assert.deepEqual(
      next.operations?.map((row) => [row.kind, row.phase]),
      [["UpgradeTalos", "controlplane v1.13.10"]],
    );
  });
});

describe("before the first pod is evicted", () => {
  const taker = { name: "a", uuid: "uuid-10.0.1.1", addresses: [], isReady: true, isSchedulable: true, isCordonedByUs: false };
  const listed = { at: NOW, isAsking: false, isStale: false, cordoned: new Map(), nodes: [taker] };
  const run: OperationFact = { id: "u", kind: "UpgradeTalos", phase: `controlplane ${asked}`, startedAt: NOW, since: NOW, inputs: {} };
  const installed = { version: asked, schematic: "none", before: "v1.13.9", bootId: `boot-${cp(2)}` };
  const kinds = (over: Partial<Observed>, known: Partial<ClusterFacts> = {}) => {
    const { seen } = seenOf({ fact: { [cp(2)]: { installed } }, over: { drains: new Map(), ...over }, facts: known });
    const { actions, facts: next } = planUpgrades(assess(seen), seen.record.kind === "present" ? seen.record.value.facts : facts());
    return { actions: actions.map(({ kind }) => kind), isBegun: next.operations !== undefined };
  };

  test("the run is written down", () => assert.deepEqual(kinds({ nodes: listed }), { actions: [], isBegun: true }));

  test("the Nodes are listed since it began", () => {
    const known = { operations: [run] };
    assert.deepEqual(kinds({ nodes: { ...listed, isAsking: true } }, known).actions, []);
    assert.deepEqual(kinds({ nodes: { ...listed, at: NOW - 1 } }, known).actions, []);
    assert.deepEqual(kinds({ nodes: listed }, known).actions, ["CordonAndDrain"]);
  });

  test("nothing is waited for where a drain is under way, or nobody reads Nodes", () => {
    const drain = { startedAt: NOW, askedAt: NOW - 60_000, ranMs: 0, unreachableMs: 0, state: undefined };
    assert.deepEqual(kinds({ nodes: listed, drains: new Map([[cp(2), drain]]) }).actions, ["CordonAndDrain"]);
    assert.deepEqual(kinds({}).actions, ["CordonAndDrain"]);
  });
});
