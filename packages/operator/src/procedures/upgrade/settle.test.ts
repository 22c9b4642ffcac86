import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import { settleUpgrade } from "./settle.ts";
import type { World } from "../../testing/builders.ts";
import type { SeenNode } from "../../model/workload.ts";
import type { Look } from "../../model/look.ts";
import type { SentEffect } from "../../model/observation.ts";
import type { InstalledFact } from "../../model/record.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

const MINUTE = 60_000;
const second = "demo-10.0.0.2";

interface Given {
  readonly count?: number;
  /** The machine that boots; default the second. */
  readonly machine?: string;
  readonly intent?: Partial<UpgradeIntent>;
  /** What is installed on it and was not booted. */
  readonly has?: InstalledFact;
  readonly looks?: Readonly<Record<string, Look>>;
  /** What was read of it: when, and in which boot; default before it booted. */
  readonly read?: { readonly at: number; readonly bootId: string; readonly version: string; readonly fallback?: string };
  readonly over?: Omit<World, "facts">;
}

/** What is sent, and what is left of the intent. */
function decided(given: Given): {
  readonly sent: readonly string[];
  readonly left: UpgradeIntent | undefined;
  readonly isFailed: boolean;
  readonly installing: string | undefined;
  readonly installed: string | undefined;
  readonly image: string | undefined;
} {
  const { count = 3, machine = second, read = { at: NOW, bootId: "before", version: "v1.13.9" }, looks = {}, over = {} } = given;
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const address = machine.replace("demo-", "");
  const intent: UpgradeIntent = {
    what: "Reboot",
    role: "controlplane",
    machine,
    address,
    uuid: `uuid-${address}`,
    at: NOW - 5 * MINUTE,
    deadline: NOW + 10 * MINUTE,
    why: "",
    talosVersion: "v1.13.10",
    talosBefore: "v1.13.9",
    bootIdBefore: "before",
    ...given.intent,
  };
  const { has } = given;
  const machines = numbers.map((n) => {
    const fact = configured(`10.0.0.${n}`);
    return has === undefined || fact.name !== machine ? fact : { ...fact, installed: has };
  });
  const known = facts({ bootstrapDone: founded, machines, intents: [intent] });
  const seen = observed({
    controlPlane: controlPlane(count, { version: "v1.13.10" }),
    facts: known,
    looks: { ...Object.fromEntries(numbers.map((n) => [`10.0.0.${n}`, running(member(n - 1, count))])), ...looks },
    watchedSince: NOW - 30 * MINUTE,
    configs: new Map([
      [
        machine,
        {
          kind: "known",
          at: read.at,
          bootId: read.bootId,
          version: read.version,
          settings: "others",
          activeHash: "",
          changes: [],
          onDisk: "wanted",
          talos: { isStaged: false, manufacturer: "", product: "", ...(read.fallback === undefined ? {} : { fallback: read.fallback }) },
        },
      ],
    ]),
    ...over,
  });
  const actions = settleUpgrade.decide(assess(seen))?.actions ?? [];
  const written = actions.find((action) => action.kind === "WriteRecord")?.facts ?? known;
  return {
    sent: actions.filter(({ kind }) => kind !== "WriteRecord").map(({ kind }) => kind),
    left: written.intents.find((one): one is UpgradeIntent => one.machine === machine),
    isFailed: written.quarantine !== undefined,
    installing: written.machines.find(({ name }) => name === machine)?.installing?.version,
    installed: written.machines.find(({ name }) => name === machine)?.installed?.version,
    image: written.machines.find(({ name }) => name === machine)?.talosImage,
  };
}

describe("a machine on which another Talos is installed", () => {
  const installing = { what: "InstallTalos", deadline: NOW - MINUTE } as const;

  test("has it perhaps when nobody saw how that ended, in the same boot", () => {
    const { left, installing: later, isFailed } = decided({ intent: installing });
    assert.deepEqual([left, later, isFailed], [undefined, "v1.13.10", false]);
  });

  test("is not booted before the stream of its installer has ended, though META tells of it already", () => {
    const read = { at: NOW, bootId: "before", version: "v1.13.9", fallback: "Talos-v1.13.9.efi" };
    const told = (ended: readonly string[], deadline = NOW + MINUTE): boolean => {
      const answered: SentEffect = { at: NOW, outcome: "answered", detail: "" };
      const sent = new Map(["InstallTalos", ...ended].map((word) => [`${word}/${second}`, answered]));
      return decided({ intent: { what: "InstallTalos", deadline }, read, over: { sent } }).left === undefined;
    };
    assert.deepEqual([told([]), told(["InstallTalosEnded"]), told([], NOW - MINUTE)], [false, true, true]);
  });

  test("does not have it when it was booted meanwhile", () => {
    const { left, installing: later } = decided({ intent: installing, read: { at: NOW, bootId: "after", version: "v1.13.9" } });
    assert.deepEqual([left, later], [undefined, undefined]);
  });
});

describe("a Talos that is installed, was never booted, and is not asked for any more", () => {
  const has: InstalledFact = { version: "v1.13.10", before: "v1.13.9", bootId: "before" };
  const takesBack = { rollsBackFrom: "before" } as const;
  const word = `RollBackTalos/${second}`;

  test("stays written down when the machine that is to take it back did not boot in time", () => {
    const { left, installed, isFailed } = decided({ has, intent: { ...takesBack, deadline: NOW - MINUTE } });
    assert.deepEqual([left, installed, isFailed], [undefined, "v1.13.10", false]);
  });

  test("is taken back at once, whatever the machine took a moment ago under another intent", () => {
    const sentAgo = (ms: number, outcome: SentEffect["outcome"]): readonly string[] =>
      decided({ has, intent: takesBack, over: { sent: new Map([[word, { at: NOW - ms, outcome, detail: "" }]]) } }).sent;
    assert.deepEqual(sentAgo(4.9 * MINUTE, "answered"), [], "asked under this one");
    assert.deepEqual(sentAgo(5.1 * MINUTE, "answered"), ["RollBackTalos"]);
    const long = { ...takesBack, at: NOW - MINUTE };
    const before = (outcome: SentEffect["outcome"]): readonly string[] =>
      decided({ has, intent: long, over: { sent: new Map([[word, { at: NOW - 2 * MINUTE, outcome, detail: "" }]]) } }).sent;
    assert.deepEqual(before("answered"), ["RollBackTalos"], "that one has ended");
    assert.deepEqual(before("refused"), [], "it refuses, and gets a while");
  });
});

describe("a machine that was upgraded", () => {
  const done = (intent: Partial<UpgradeIntent>): ReturnType<typeof decided> =>
    decided({
      intent: { provenAt: NOW - MINUTE, ...intent },
      read: { at: NOW, bootId: "after", version: "v1.13.10" },
      looks: { "10.0.0.2": running(member(1, 3), { version: "v1.13.10" }) },
      over: { baking: new Set() },
    });

  test("is known by the name of its image, where that tells no schematic", () => {
    const talosImage = "registry.example.org/own/installer:v1.13.10";
    const { left, image } = done({ talosImage });
    assert.deepEqual([left, image], [undefined, talosImage]);
  });

  test("is known by what it shows otherwise", () => assert.deepEqual([done({}).left, done({}).image], [undefined, undefined]));
});

describe("a machine that is to boot another Talos", () => {
  test("boots", () => assert.deepEqual(decided({}).sent, ["RebootMachine"]));

  test("has the leadership of etcd go first, where somebody can take it", () => {
    const first = { machine: "demo-10.0.0.1" };
    assert.deepEqual(decided(first).sent, ["ForfeitLeadership"]);
    assert.deepEqual(decided({ ...first, count: 1 }).sent, ["RebootMachine"]);
  });

  test("waits when another control plane stopped being ready after that was written down", () => {
    const looks = { "10.0.0.3": running(member(2, 3), { ready: false }) };
    assert.deepEqual(decided({ looks }).sent, []);
  });

  test("is not judged by what was read of it before that was written down", () => {
    const { sent, left, isFailed } = decided({ read: { at: NOW - 6 * MINUTE, bootId: "earlier", version: "v1.13.9" } });
    assert.deepEqual([sent, left?.what, isFailed], [[], "Reboot", false]);
  });
});

describe("a machine that runs the Talos that was asked for", () => {
  const read = { at: NOW, bootId: "after", version: "v1.13.10" };
  const well: Look = running(member(1, 3), { version: "v1.13.10" });
  const unwell: Look = running(member(1, 3), { version: "v1.13.10", ready: false });

  test("has its bake time begin, and begin anew after it was unwell in it", () => {
    assert.equal(decided({ read, looks: { "10.0.0.2": well } }).left?.provenAt, NOW);
    const { left } = decided({ read, looks: { "10.0.0.2": unwell }, intent: { provenAt: NOW - 5_000 } });
    assert.ok(left !== undefined && left.provenAt === undefined);
  });

  describe("while the API of its cluster is asked for Nodes", () => {
    const node: SeenNode = {
      name: "node-2",
      osImage: "Talos (v1.13.10)",
      isReady: true,
      uuid: "",
      isCordonedByUs: false,
      addresses: ["10.0.0.2"],
    };
    const look = running(member(1, 3), { version: "v1.13.10", nodeName: "node-2" });
    /** Long after its time, with Nodes that were listed so long ago. */
    const judged = (agoMs: number, nodes: readonly SeenNode[] | undefined): readonly unknown[] => {
      const seen = { at: NOW, listedAt: NOW - agoMs, nodes, isAsking: true, isStale: false, cordoned: new Map() };
      const { left, isFailed } = decided({
        read,
        looks: { "10.0.0.2": look },
        intent: { deadline: NOW - MINUTE },
        over: { nodes: seen, baking: new Set() },
      });
      return [left?.provenAt, left?.rollsBackFrom, isFailed];
    };
    const [proven, waits, goesBack] = [
      [NOW, undefined, false],
      [undefined, undefined, false],
      [undefined, "after", true],
    ];
    for (const [what, agoMs, nodes, want] of [
      ["is well by what it told since the boot was written down", 4 * MINUTE, [node], proven],
      ["is not well by what it told before", 6 * MINUTE, [node], waits],
      ["is not to blame for what nobody told for a minute", 2 * MINUTE, [{ ...node, isReady: false }], waits],
      ["is not to blame where nobody ever told", 0, undefined, waits],
      ["is to blame for what it told a moment ago", 5_000, [{ ...node, isReady: false }], goesBack],
      ["is to blame for a version that its Node does not show", 5_000, [{ ...node, osImage: "Talos (v1.13.9)" }], goesBack],
    ] as const)
      test(what, () => assert.deepEqual(judged(agoMs, nodes), want));
  });

  test("is done when it was well for its bake time, and not while nobody knows that", () => {
    const given = { read, looks: { "10.0.0.2": well }, intent: { provenAt: NOW - 20_000 } };
    assert.equal(decided({ ...given, over: { baking: new Set() } }).left, undefined);
    assert.equal(decided({ ...given, over: { baking: new Set([second]) } }).left?.what, "Reboot");
    assert.equal(decided(given).left?.what, "Reboot");
  });
});

describe("a process that has just begun, after the deadline", () => {
  const late = { deadline: NOW - MINUTE };
  const begun = { watchedSince: NOW - 10_000 };
  const unread = { at: NOW - 6 * MINUTE, bootId: "earlier", version: "v1.13.9" };

  test("has not read what runs yet, and fails nothing for that", () => {
    assert.deepEqual(decided({ intent: late, read: unread, over: begun }).isFailed, false);
    assert.deepEqual(decided({ intent: late, read: unread }).isFailed, true);
  });

  test("rolls back what it then sees", () => {
    const read = { at: NOW, bootId: "after", version: "v1.13.10" };
    const looks = { "10.0.0.2": running(member(1, 3), { version: "v1.13.10", ready: false }) };
    const { left, isFailed } = decided({ intent: late, read, looks, over: begun });
    assert.deepEqual([left?.rollsBackFrom, isFailed], ["after", true]);
  });

  test("goes on with a machine that is to go back", () => {
    const intent = { ...late, rollsBackFrom: "after" };
    assert.equal(decided({ intent, read: unread, over: begun }).left?.rollsBackFrom, "after");
    assert.equal(decided({ intent, read: unread }).left, undefined);
  });
});
