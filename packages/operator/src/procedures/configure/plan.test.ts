import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConfigChange, Hazard } from "@talos-operator/talos";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, worker } from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { configHashOf } from "./config-hash.ts";
import { wantedMeta } from "./meta-plan.ts";
import { planConfigs } from "./plan.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import { chooseNext } from "./rollout.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { KnownConfig, SeenConfig, SeenMeta } from "../../model/config.ts";
import type { ConfigState } from "../../model/plans.ts";
import type { Running } from "../../model/look.ts";

const change = (effect: ConfigChange["effect"], path = "machine.nodeLabels.a"): ConfigChange => ({
  document: "/v1alpha1/",
  path,
  change: "added",
  effect,
  services: [],
  rebootsItself: false,
  reason: "",
  before: undefined,
  after: "b",
});

const hazards: readonly Hazard[] = [{ code: "TALOS_API_BLOCKED", document: "a", path: "b", message: "c; d", holdsBack: true }];

const plain = facts({ bootstrapDone: founded, cni: undefined });
const settingsOf = (seen: Observed, machine: SeenMachine): string =>
  configHashOf(machine.declared, asMade(seen.controlPlane.spec ?? controlPlane().spec!, plain));

/** A settled cluster of three control planes and workers; `fact` and `config` are said of one machine. */
function world(over: {
  readonly fact?: Partial<MachineFact> | ((settings: string) => Partial<MachineFact>);
  readonly config?: Partial<KnownConfig> | "unknown";
  readonly of?: string;
  readonly workers?: number;
  readonly more?: World;
  readonly intents?: ClusterFacts["intents"];
}): Observed & { readonly facts: ClusterFacts } {
  const { workers = 0, of = "10.0.0.1" } = over;
  const pools = workers === 0 ? [] : [worker(workers)];
  const looks = Object.fromEntries([
    ...[0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running(member(index, 3))]),
    ...Array.from({ length: workers }, (_, index) => [`10.0.1.${index + 1}`, running()]),
  ]);
  const bare = observed({ facts: plain, looks, workers: pools, ...over.more });
  const known = bare.machines.map((machine) => {
    const settings = settingsOf(bare, machine);
    const { role, owner, address, name } = machine.declared;
    const base = configured(address, role, owner.name, { name, configHash: settings, appliedHash: "applied" });
    const fact = typeof over.fact === "function" ? over.fact(settings) : over.fact;
    return address === of ? { ...base, ...fact } : base;
  });
  const configs = new Map<string, SeenConfig>(
    bare.machines.map((machine) => {
      const config: KnownConfig = {
        kind: "known",
        at: NOW,
        settings: settingsOf(bare, machine),
        bootId: "boot-1",
        version: "v1.13.9",
        activeHash: "applied",
        changes: [],
        onDisk: "wanted",
      };
      if (machine.declared.address !== of) return [machine.declared.name, config];
      return [machine.declared.name, over.config === "unknown" ? { kind: "unknown", detail: "silent" } : { ...config, ...over.config }];
    }),
  );
  const all = { ...plain, machines: known, intents: over.intents ?? [] };
  return { ...observed({ facts: all, looks, workers: pools, configs, ...over.more }), facts: all };
}

const stateIn = (seen: ReturnType<typeof world>, index = 0): ConfigState | undefined => planConfigs(seen, seen.facts)[index]?.state;

describe("where a machine stands", () => {
  const old = { configHash: "old" };
  const other = { changes: [change("live")], activeHash: "by-hand", onDisk: "other" } as const;
  const staged = (settings: string): Partial<MachineFact> => ({ configHash: "old", staged: { configHash: settings, bootId: "boot-1" } });
  const stagedText = (settings: string): Partial<MachineFact> => ({
    configHash: "old",
    staged: { configHash: settings, bootId: "boot-1", textHash: "staged-text" },
  });
  const gaveUp = (settings: string): Partial<MachineFact> => ({
    configHash: "old",
    failed: { configHash: settings, kind: "refused", why: "no" },
  });
  const cases: readonly { readonly name: string; readonly given: Parameters<typeof world>[0]; readonly want: string }[] = [
    { name: "as it was left", given: {}, want: "settled" },
    { name: "not read yet", given: { config: "unknown" }, want: "unknown" },
    { name: "read for settings of before", given: { config: { settings: "other" } }, want: "unknown" },
    {
      name: "another release would write it otherwise, and nobody changed it: nothing is sent",
      given: { config: { changes: [change("live")], onDisk: "active" } },
      want: "settled",
    },
    {
      name: "configured here, and never compared: settings may have come and gone while they were sent",
      given: { fact: { appliedHash: undefined as never, contract: "1.13" }, config: { changes: [change("live")], onDisk: "active" } },
      want: "change guarded",
    },
    {
      name: "configured here, and runs what was sent: learned",
      given: { fact: { appliedHash: undefined as never, contract: "1.13" } },
      want: "learn",
    },
    { name: "changed by hand", given: { config: other }, want: "drifted" },
    { name: "something else waits on its disk", given: { config: { onDisk: "other" } }, want: "drifted" },
    {
      name: "never compared by an earlier release: learned, not changed",
      given: { fact: { appliedHash: undefined as never }, config: other },
      want: "learn",
    },
    { name: "met running: what it runs counts as applied", given: { fact: { configHash: undefined }, config: other }, want: "learn" },
    {
      name: "settings changed, in force at once",
      given: { fact: old, config: { changes: [change("live")], onDisk: "other" } },
      want: "change guarded",
    },
    {
      name: "settings changed, a service restarts",
      given: { fact: old, config: { changes: [change("restarts-service")] } },
      want: "change guarded",
    },
    {
      name: "settings changed, needs a boot, and a part of it can be tried first",
      given: { fact: old, config: { changes: [change("live", "machine.sysctls.a"), change("reboot")], firstPart: [change("live")] } },
      want: "change guarded",
    },
    { name: "settings changed, with a hazard", given: { fact: old, config: { changes: [change("reboot")], hazards } }, want: "hazard" },
    {
      name: "staged by a release that asked nobody, with a hazard: not booted",
      given: { fact: staged, config: { changes: [change("reboot")], onDisk: "wanted", hazards } },
      want: "hazard",
    },
    { name: "settings changed, needs a boot", given: { fact: old, config: { changes: [change("reboot")] } }, want: "change reboot" },
    {
      name: "settings changed, nobody knows what it needs",
      given: { fact: old, config: { changes: [change("unknown")] } },
      want: "change reboot",
    },
    {
      name: "settings changed, destroys data",
      given: { fact: old, config: { changes: [change("live"), change("destroys-data")] } },
      want: "never",
    },
    { name: "settings changed, needs an installation", given: { fact: old, config: { changes: [change("reinstall")] } }, want: "never" },
    { name: "settings changed, forbidden", given: { fact: old, config: { changes: [change("forbidden")] } }, want: "never" },
    { name: "settings changed and the machine runs them already", given: { fact: old, config: { activeHash: "new" } }, want: "learn" },
    {
      name: "settings set back while the disk holds the others",
      given: { fact: old, config: { onDisk: "other" } },
      want: "change rewrite",
    },
    { name: "staged", given: { fact: staged, config: { changes: [change("reboot")] } }, want: "staged" },
    { name: "staged, and somebody booted it", given: { fact: staged, config: { bootId: "boot-2", activeHash: "new" } }, want: "learn" },
    {
      name: "staged, booted, and it runs something else",
      given: { fact: staged, config: { bootId: "boot-2", changes: [change("reboot")] } },
      want: "learn failed",
    },
    {
      name: "staged, and another release would render it otherwise: it still waits for its boot",
      given: { fact: stagedText, config: { changes: [change("reboot")], onDisk: "other", diskHash: "staged-text" } },
      want: "staged",
    },
    {
      name: "staged, booted, and another release would render it otherwise",
      given: { fact: stagedText, config: { bootId: "boot-2", changes: [change("live")], activeHash: "staged-text" } },
      want: "learn",
    },
    {
      name: "staged, and somebody put another configuration on its disk: it is not booted for that",
      given: { fact: stagedText, config: { changes: [change("reboot")], onDisk: "other", diskHash: "by-hand" } },
      want: "change reboot",
    },
    {
      name: "staged, and somebody put the old configuration back on its disk: it is not booted for nothing",
      given: { fact: stagedText, config: { changes: [change("reboot")], onDisk: "active", diskHash: "applied" } },
      want: "change reboot",
    },
    {
      name: "staged, and somebody brought it in force without a boot",
      given: { fact: stagedText, config: { activeHash: "by-hand" } },
      want: "learn",
    },
    {
      name: "booted with the staged settings and not well: it stays failed",
      given: {
        fact: (settings) => ({ ...staged(settings), ...gaveUp(settings) }),
        config: { bootId: "boot-2" },
        more: { looks: { "10.0.0.1": running(member(0, 3), { ready: false }) } },
      },
      want: "failed",
    },
    { name: "failed with these settings", given: { fact: gaveUp, config: { changes: [change("live")], onDisk: "other" } }, want: "failed" },
    { name: "failed with these settings, and silent", given: { fact: gaveUp, config: "unknown" }, want: "failed" },
    { name: "failed, and somebody brought it there by hand", given: { fact: gaveUp, config: {} }, want: "learn" },
    {
      name: "failed with other settings",
      given: { fact: { ...old, failed: { configHash: "older", kind: "refused", why: "no" } }, config: { changes: [change("live")] } },
      want: "change guarded",
    },
    {
      name: "not heard of once: sent again",
      given: {
        fact: (settings) => ({ ...old, failed: { configHash: settings, kind: "unknown", why: "?", tries: 1 } }),
        config: { changes: [change("live")] },
      },
      want: "change guarded",
    },
  ];
  for (const { name, given, want } of cases)
    test(name, () => {
      const state = stateIn(world(given));
      const route =
        state?.kind === "change" ? ` ${state.route}` : state?.kind === "learn" && state.next.failed !== undefined ? " failed" : "";
      assert.equal(`${state?.kind}${route}`, want);
    });

  describe("settings with a hazard that a person accepted", () => {
    const seen = world({ fact: old, config: { changes: [change("reboot")], hazards } });
    const [plan] = planConfigs(seen, seen.facts);
    const kindWith = (configHash: string, code = "TALOS_API_BLOCKED"): string | undefined =>
      planConfigs(seen, { ...seen.facts, acceptedHazards: [{ code, configHash, at: NOW }] })[0]?.state.kind;
    test("are sent", () => assert.equal(kindWith(plan?.settings ?? ""), "change"));
    test("are held back when they are other ones by now", () => assert.equal(kindWith("of-before"), "hazard"));
    test("are held back by another hazard", () => assert.equal(kindWith(plan?.settings ?? "", "ENDPOINT_NOT_HTTPS"), "hazard"));
  });

  test("nothing is planned before etcd is bootstrapped, or while the spec cannot be used", () => {
    const seen = world({});
    assert.deepEqual(planConfigs(seen, { ...seen.facts, bootstrapDone: undefined }), []);
    assert.deepEqual(
      planConfigs({ ...seen, problems: [{ field: "a", message: "b", remedy: "c", reason: "InvalidConfig" }] }, seen.facts),
      [],
    );
  });
});

describe("whose turn it is", () => {
  const changing = { fact: { configHash: "old" }, config: { changes: [change("live")], onDisk: "other" } } as const;
  const nextIn = (seen: ReturnType<typeof world>): readonly string[] =>
    chooseNext(assess(seen), seen.facts, planConfigs(seen, seen.facts)).next.map((plan) => plan.machine.declared.address);
  /** Every machine has changed settings. */
  const all = (seen: ReturnType<typeof world>): ReturnType<typeof world> => {
    const machines = seen.facts.machines.map((fact) => ({ ...fact, configHash: "old" }));
    const configs = new Map(
      [...(seen.configs ?? [])].map(([name, config]) => [name, { ...config, changes: [change("live")], onDisk: "other" } as SeenConfig]),
    );
    return { ...seen, configs, facts: { ...seen.facts, machines } };
  };
  const intent = {
    what: "ApplyConfig",
    machine: "demo-10.0.0.2",
    address: "10.0.0.2",
    uuid: "",
    role: "controlplane",
    at: NOW,
    deadline: NOW,
    why: "",
  } as const;

  test("one control plane, and no worker beside it", () => assert.deepEqual(nextIn(all(world({ workers: 3 }))), ["10.0.0.1"]));
  test("nobody while an effect on another control plane is open", () =>
    assert.deepEqual(nextIn(all(world({ workers: 3, intents: [intent] }))), []));
  describe("a worker whose Node gets another name", () => {
    const hostname = { runs: "", asked: "worker-a" };
    const renamed = (over: Partial<KnownConfig>, look: Partial<Running> = {}): { readonly sent: number; readonly drained: number } => {
      const looks = {
        ...Object.fromEntries([0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running(member(index, 3))])),
        "10.0.1.1": running(undefined, { nodeName: "node-1", ...look }),
      };
      const seen = world({
        workers: 1,
        of: "10.0.1.1",
        fact: { configHash: "old" },
        config: { changes: [change("restarts-service", "hostname")], onDisk: "other", hostname, ...over },
        more: { looks, drains: new Map() },
      });
      const { next, actions } = chooseNext(assess(seen), seen.facts, planConfigs(seen, seen.facts));
      return { sent: next.length, drained: actions.filter(({ kind }) => kind === "CordonAndDrain").length };
    };
    test("is drained first", () => assert.deepEqual(renamed({}), { sent: 0, drained: 1 }));
    test("is not where the name stays", () =>
      assert.deepEqual(renamed({ hostname: { runs: "", asked: "node-1" } }), { sent: 1, drained: 0 }));
    test("is drained for its boot where only that brings the name", () =>
      assert.deepEqual(renamed({ changes: [change("reboot")] }), { sent: 1, drained: 0 }));
    test("gets it at once where it shares its Node: nobody could drain that", () =>
      assert.deepEqual(renamed({}, { sharesNode: ["another"] }), { sent: 1, drained: 0 }));
  });
  test("nobody for a leader that just took over", () => assert.deepEqual(nextIn(all(world({ more: { mayDisturb: false } }))), []));
  test("nobody when etcd would lose its quorum", () => {
    const looks = {
      "10.0.0.1": running(member(0, 3)),
      "10.0.0.2": running(member(1, 3)),
      "10.0.0.3": { kind: "silent", at: NOW, since: NOW, detail: "" },
    } as const;
    assert.deepEqual(nextIn(all(world({ more: { looks } }))), []);
  });
  test("nobody anywhere while one machine failed with the settings it should have", () => {
    const seen = all(world({ workers: 2 }));
    const [first, ...rest] = seen.facts.machines;
    const plan = planConfigs(seen, seen.facts)[0];
    const failed = { ...first!, failed: { configHash: plan!.settings, kind: "refused" as const, why: "no" } };
    assert.deepEqual(nextIn({ ...seen, facts: { ...seen.facts, machines: [failed, ...rest] } }), []);
  });
  describe("after settings that the machine in the middle did not keep, without a sign why", () => {
    const tried = (sent: Observed["sent"], more: Partial<Observed> = {}): readonly string[] => {
      const seen = all(world({ workers: 2, more: { sent } }));
      const settings = planConfigs(seen, seen.facts)[1]!.settings;
      const machines = seen.facts.machines.map((fact) =>
        fact.address === "10.0.0.2"
          ? { ...fact, failed: { configHash: settings, kind: "reverted" as const, why: "it was booted", tries: 1 } }
          : fact,
      );
      return nextIn({ ...seen, ...more, facts: { ...seen.facts, machines } });
    };
    const sentAgo = (ms: number): Observed["sent"] =>
      new Map([["ApplyConfig/demo-10.0.0.2", { at: NOW - ms, outcome: "answered" as const, detail: "" }]]);
    test("nobody gets them while it is left in peace: what boots one machine must not go around", () =>
      assert.deepEqual(tried(sentAgo(240_000)), []));
    test("it is the first to get them again", () => assert.deepEqual(tried(sentAgo(400_000)), ["10.0.0.2"]));
    test("it is the first for a process that did not send them", () => assert.deepEqual(tried(new Map()), ["10.0.0.2"]));
    test("others do not wait for one that tells nothing any more", () => {
      const sent = sentAgo(240_000);
      const { configs } = all(world({ workers: 2, more: { sent } }));
      const more = { configs: new Map([...(configs ?? [])].filter(([name]) => name !== "demo-10.0.0.2")) };
      assert.deepEqual(tried(sent, more), ["10.0.0.1"]);
    });
  });
  test("the control plane that waits for its boot before any other", () => {
    const seen = all(world({}));
    const machines = seen.facts.machines.map((fact) =>
      fact.address === "10.0.0.3"
        ? { ...fact, staged: { configHash: planConfigs(seen, seen.facts)[2]!.settings, bootId: "boot-1" } }
        : fact,
    );
    const configs = new Map(seen.configs);
    configs.set("demo-10.0.0.3", { ...(configs.get("demo-10.0.0.3") as KnownConfig), onDisk: "wanted" });
    assert.deepEqual(nextIn({ ...seen, configs, facts: { ...seen.facts, machines } }), ["10.0.0.3"]);
  });
  test("nobody while one that was staged does not tell how it is", () => {
    const seen = all(world({ of: "10.0.0.3", config: "unknown" }));
    const machines = seen.facts.machines.map((fact) =>
      fact.address === "10.0.0.3"
        ? { ...fact, staged: { configHash: planConfigs(seen, seen.facts)[2]!.settings, bootId: "boot-1" } }
        : fact,
    );
    const configs = new Map(seen.configs).set("demo-10.0.0.3", { kind: "unknown", detail: "silent" });
    assert.deepEqual(nextIn({ ...seen, configs, facts: { ...seen.facts, machines } }), []);
  });

  for (const { down, most, want } of [
    { down: 0, most: 1, want: 1 },
    { down: 1, most: 1, want: 0 },
    { down: 0, most: 2, want: 2 },
    { down: 1, most: 2, want: 1 },
    { down: 0, most: "50%", want: 2 },
    { down: 0, most: "10%", want: 1 },
  ])
    test(`workers: ${want} of four more when ${down} is down and ${most} may be`, () => {
      const pool = worker(4);
      const looks = Object.fromEntries([
        ...[0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running(member(index, 3))]),
        ...[1, 2, 3, 4].map((index) => [`10.0.1.${index}`, running(undefined, { ready: index <= 4 - down })]),
      ]);
      const workers = [
        { ...pool, spec: { ...pool.spec!, rolloutStrategy: { type: "RollingUpdate" as const, rollingUpdate: { maxUnavailable: most } } } },
      ];
      const seen = all(world({ workers: 4, more: { looks, workers } }));
      const settled = new Set(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
      const machines = seen.facts.machines.map((fact, index) =>
        settled.has(fact.address) ? { ...fact, configHash: planConfigs(seen, seen.facts)[index]!.settings, appliedHash: "applied" } : fact,
      );
      const next = nextIn({ ...seen, facts: { ...seen.facts, machines } }).filter(
        (address) => looks[address]?.kind === "running" && looks[address].ready,
      );
      assert.equal(next.length, want);
    });

  describe("boots of two workers that may be down together", () => {
    const booting = (config: Partial<KnownConfig>, open?: "10.0.1.1"): readonly string[] => {
      const pool = worker(2);
      const rollingUpdate = { maxUnavailable: 2 };
      const workers = [{ ...pool, spec: { ...pool.spec!, rolloutStrategy: { type: "RollingUpdate" as const, rollingUpdate } } }];
      const seen = world({ workers: 2, more: { workers } });
      const plans = planConfigs(seen, seen.facts);
      const isWorker = (name: string): boolean => seen.facts.machines.some((fact) => fact.name === name && fact.role === "worker");
      const configs = new Map(
        [...(seen.configs ?? [])].map(([name, known]) => [
          name,
          (isWorker(name) ? { ...known, onDisk: "wanted", ...config } : known) as SeenConfig,
        ]),
      );
      const machines = seen.facts.machines.map((fact, index) =>
        fact.role === "worker" ? { ...fact, configHash: "old", staged: { configHash: plans[index]!.settings, bootId: "boot-1" } } : fact,
      );
      const acceptedHazards = plans.map(({ settings }) => ({ code: "TALOS_API_BLOCKED", configHash: settings, at: NOW }));
      const reboot = { ...intent, what: "Reboot" as const, role: "worker" as const };
      const intents = machines
        .filter(({ address }) => address === open)
        .map(({ name, address }) => ({ ...reboot, machine: name, address }));
      return nextIn({ ...seen, configs, facts: { ...seen.facts, machines, acceptedHazards, intents } });
    };
    const boots = { changes: [change("reboot")] };
    test("go together", () => assert.deepEqual(booting(boots), ["10.0.1.1", "10.0.1.2"]));
    test("go one by one with a hazard that was accepted", () => assert.deepEqual(booting({ ...boots, hazards }), ["10.0.1.1"]));
    test("go one by one with what could not be tried", () =>
      assert.deepEqual(booting({ changes: [change("live"), change("reboot")] }), ["10.0.1.1"]));
    test("wait for the return of the first one", () => assert.deepEqual(booting({ ...boots, hazards }, "10.0.1.1"), []));
    test("do not wait for it without a hazard", () => assert.deepEqual(booting(boots, "10.0.1.1"), ["10.0.1.2"]));
  });

  test("a share is rounded down, and at least one machine may be down", () => {
    const seen = world({ workers: 3 });
    for (const [given, want] of [
      ["34%", 1],
      ["67%", 2],
      ["100%", 3],
      ["0%", 1],
      [0, 1],
      [5, 5],
      ["nonsense", 1],
      [undefined, 1],
    ] as const) {
      const [pool] = seen.workers;
      const workers = [
        {
          ...pool!,
          spec: {
            ...pool!.spec!,
            ...(given === undefined
              ? {}
              : { rolloutStrategy: { type: "RollingUpdate" as const, rollingUpdate: { maxUnavailable: given } } }),
          },
        },
      ];
      assert.equal(assess({ ...seen, workers }).pools.get("demo-workers")?.limit, want, String(given));
    }
  });

  test("drift is left alone unless the policy says otherwise", () => {
    const drifted = { config: { changes: [change("live")], activeHash: "by-hand", onDisk: "other" } } as const;
    assert.deepEqual(nextIn(world(drifted)), []);
    assert.deepEqual(nextIn(world({ ...drifted, more: { controlPlane: controlPlane(3, { driftPolicy: "Revert" }) } })), ["10.0.0.1"]);
    assert.deepEqual(nextIn(world(changing)), ["10.0.0.1"]);
    const hazardous = { config: { ...drifted.config, hazards } };
    assert.deepEqual(nextIn(world({ ...hazardous, more: { controlPlane: controlPlane(3, { driftPolicy: "Revert" }) } })), []);
  });

  test("neither is META brought back where that takes away what leads to the machine", () => {
    const machines = [1, 2, 3].map((n) => ({ address: `10.0.0.${n}` }));
    const machineSpec = { installDisk: "/dev/sda", meta: { interface: "eth0", subnet: 24 } };
    const pool = controlPlane(3, { driftPolicy: "Revert", metalSpec: { machines, machineSpec } });
    const wanted = wantedMeta(observed({ controlPlane: pool }).machines[0]!.declared, "metal").hash;
    const drifted = (meta: Partial<SeenMeta>): ReturnType<typeof world> =>
      world({ fact: { metaHash: wanted }, config: { meta: { wanted, live: "by-hand", ...meta } }, more: { controlPlane: pool } });
    assert.deepEqual([nextIn(drifted({})), nextIn(drifted({ hazards }))], [["10.0.0.1"], []]);
  });

  describe("a machine that somebody changes again each time it is brought back", () => {
    const drifted = { config: { changes: [change("reboot")], activeHash: "by-hand", onDisk: "other" } } as const;
    const revert = { controlPlane: controlPlane(3, { driftPolicy: "Revert" }) };
    const MINUTE_MS = 60_000;
    const nextAfter = (...minutesAgo: readonly number[]): readonly string[] => {
      const seen = world({ ...drifted, more: revert });
      const decisions = minutesAgo.map((minutes) => ({
        at: NOW - minutes * MINUTE_MS,
        action: "ApplyConfig",
        reason: "Drift",
        machine: "demo-10.0.0.1",
        message: "",
      }));
      return nextIn({ ...seen, facts: { ...seen.facts, decisions } });
    };
    for (const { ago, isNext } of [
      { ago: [11], isNext: true },
      { ago: [40, 19], isNext: false },
      { ago: [40, 21], isNext: true },
      { ago: [200, 100, 39], isNext: false },
      { ago: [200, 100, 41], isNext: true },
      { ago: [1_200, 1_000, 900, 800, 700, 600, 500, 359], isNext: false },
      { ago: [1_200, 1_000, 900, 800, 700, 600, 500, 361], isNext: true },
      { ago: [1_500, 1_450, 11], isNext: true },
    ])
      test(`brought back ${ago.join(", ")} minutes ago: it is ${isNext ? "" : "not "}brought back now`, () =>
        assert.deepEqual(nextAfter(...ago), isNext ? ["10.0.0.1"] : []));
  });
});
