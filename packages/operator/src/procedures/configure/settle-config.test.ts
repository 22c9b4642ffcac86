import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConfigChange } from "@talos-operator/talos";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import { ARRIVES_MS, META_MS, REBOOT_MS, SOAK_MS, TRY_MS } from "./config-intents.ts";
import { begunBy } from "./config-probe.ts";
import { failureWords as words } from "../../report/failures.ts";
import { machineFact } from "../../record/facts.ts";
import { releaseConfig, settleConfig } from "./settle-config.ts";
import type { Look } from "../../model/look.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { MachineNotes, Observed, SentEffect } from "../../model/observation.ts";
import type { KnownConfig } from "../../model/config.ts";

const name = "demo-10.0.0.1";
const AT = NOW;
const DEADLINE = AT + TRY_MS + ARRIVES_MS;
const change: ConfigChange = {
  document: "/v1alpha1/",
  path: "machine.nodeLabels.a",
  change: "added",
  effect: "live",
  services: [],
  rebootsItself: false,
  reason: "",
  before: undefined,
  after: "b",
};
const intentOf = (over: Partial<IntentFact> = {}): IntentFact => ({
  what: "ApplyConfig",
  machine: name,
  address: "10.0.0.1",
  uuid: "uuid-10.0.0.1",
  role: "controlplane",
  at: AT,
  deadline: DEADLINE,
  why: "",
  configHash: "new",
  applyMode: "try",
  bootIdBefore: "boot-1",
  ...over,
});
const active: Partial<KnownConfig> = { activeHash: "tried" };
const reverted: Partial<KnownConfig> = { changes: [change], onDisk: "other" };

/** How a session notes that it wrote {@link intentOf} down. */
const begun = (over: Partial<IntentFact>): MachineNotes => ({ begun: begunBy(intentOf(over)) });

/** How a session notes that it held a call back. */
const heldBack = (at: number): MachineNotes => ({ heldBack: { at, why: "quorum" } });

interface Given {
  readonly now: number;
  readonly intent?: Partial<IntentFact>;
  readonly config?: Partial<KnownConfig>;
  readonly look?: Look;
  /** What the third control plane shows. Default: it is well. */
  readonly othersLook?: Look;
  readonly sent?: Partial<SentEffect> & { readonly at: number };
  readonly others?: Readonly<Record<string, SentEffect>>;
  readonly notes?: MachineNotes;
  readonly trouble?: string;
  readonly fact?: Partial<MachineFact>;
  readonly over?: Partial<Pick<Observed, "controlPlane" | "mayDisturb" | "watchedSince" | "overdue" | "soaking" | "held">>;
}

function seenOf({ now, intent, config, look, othersLook, sent, others = {}, notes = {}, trouble, fact, over }: Given): Observed {
  const known: ClusterFacts = facts({
    bootstrapDone: founded,
    machines: [1, 2, 3].map((index) =>
      configured(`10.0.0.${index}`, "controlplane", "demo", { configHash: "old", appliedHash: "applied", ...fact }),
    ),
    intents: [intentOf(intent)],
  });
  const read: KnownConfig = {
    kind: "known",
    at: now,
    settings: "new",
    bootId: "boot-1",
    version: "v1.13.9",
    activeHash: "applied",
    changes: [],
    onDisk: "wanted",
    ...config,
  };
  const effect = intent?.what === "Reboot" ? "Reboot" : "ApplyConfig";
  return observed({
    facts: known,
    controlPlane: controlPlane(3),
    now,
    looks: {
      "10.0.0.1": look ?? { ...running(member(0, 3)), at: now },
      "10.0.0.2": { ...running(member(1, 3)), at: now },
      "10.0.0.3": othersLook ?? { ...running(member(2, 3)), at: now },
    },
    configs: new Map(config === undefined ? [] : [[name, read]]),
    sent: new Map([
      ...Object.entries(others),
      ...(sent === undefined
        ? []
        : [[`${effect}/${name}`, { outcome: "answered", detail: "", before: "ready", ...sent } as SentEffect] as const]),
    ]),
    notes: new Map([[name, notes]]),
    troubles: new Map(trouble === undefined ? [] : [[name, trouble]]),
    ...over,
  });
}

/** What comes out, in one line: the action, or the reason of the ending and what is written down. */
function told(seen: Observed): string {
  const actions = settleConfig.decide(assess(seen))?.actions ?? [];
  const wordOf = (action: Action): string => {
    if (action.kind === "WriteRecord") return endOf(action);
    return action.kind === "RebootMachine" && action.isForSpace === true ? "RebootMachine for space" : action.kind;
  };
  return actions.map(wordOf).join(" ") || "waits";
}

function endOf({ facts: next }: Extract<Action, { readonly kind: "WriteRecord" }>): string {
  const fact = machineFact(next, name) as MachineFact;
  const { configHash, appliedHash, staged, failed } = fact;
  const written = [
    configHash === "old" ? "" : `now ${configHash}/${appliedHash}`,
    staged === undefined ? "" : `staged ${staged.configHash}/${staged.bootId}/${staged.textHash}`,
    failed === undefined
      ? ""
      : `failed ${failed.configHash} ${failed.kind}${failed.tries === undefined ? "" : ` x${failed.tries}`}: ${failed.why}`,
  ];
  assert.equal(next.intents.length, 0);
  return [next.decisions.at(-1)?.reason, ...written].filter((word) => word !== "").join(", ");
}

describe("a trial", () => {
  const soon = AT + SOAK_MS + 1_000;
  const late = DEADLINE + 1_000;
  const cases: readonly (Given & { readonly name: string; readonly want: string })[] = [
    { name: "is waited for until it arrives", now: AT + 1_000, config: reverted, want: "waits" },
    {
      name: "is not kept before the machine was looked at for a while",
      now: AT + 5_000,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      want: "waits",
    },
    {
      name: "is kept when the machine looks well",
      now: soon,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      want: "KeepConfig",
    },
    {
      name: "is not kept on the word of an old look",
      now: soon,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      look: { ...running(member(0, 3)), at: AT + 1_000 },
      want: "waits",
    },
    {
      name: "is not kept while the machine is silent",
      now: soon,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      look: silent,
      want: "waits",
    },
    {
      name: "is not kept while etcd on it is not healthy",
      now: soon,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      look: { ...running({ ...member(0, 3), isHealthy: false }), at: soon },
      want: "waits",
    },
    {
      name: "is not kept while its node is not ready",
      now: soon,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      look: { ...running(member(0, 3), { ready: false }), at: soon },
      want: "waits",
    },
    {
      name: "is kept on a machine that was not ready before either",
      now: soon,
      sent: { at: AT, before: "not ready" },
      config: { ...active, onDisk: "other" },
      look: { ...running(member(0, 3), { ready: false }), at: soon },
      want: "KeepConfig",
    },
    {
      name: "is not told to stay again at once when that was held back",
      now: soon,
      sent: { at: AT },
      notes: heldBack(soon - 1_000),
      config: { ...active, onDisk: "other" },
      want: "waits",
    },
    { name: "of another process is waited out", now: soon, config: { ...active, onDisk: "other" }, want: "waits" },
    {
      name: "is not kept at the last moment, when the machine may be taking it back",
      now: AT + TRY_MS - 20_000,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      want: "waits",
    },
    {
      name: "is not told to stay twice at once",
      now: soon,
      sent: { at: AT },
      others: { [`KeepConfig/${name}`]: { at: soon - 1_000, outcome: "unknown", detail: "" } },
      config: { ...active, onDisk: "other" },
      want: "waits",
    },
    { name: "that is kept is done", now: soon, sent: { at: AT }, config: active, want: "Applied, now new/tried" },
    { name: "that was kept by a process before is done", now: soon, config: active, want: "Applied, now new/tried" },
    {
      name: "on a Talos that does not tell its disk is done when the time is over",
      now: late,
      config: { ...active, onDisk: "unknown" },
      want: "Applied, now new/tried",
    },
    {
      name: "on a Talos that does not tell its disk is not done before",
      now: AT + TRY_MS,
      config: { ...active, onDisk: "unknown" },
      want: "waits",
    },
    {
      name: "compared with other settings says nothing",
      now: soon,
      sent: { at: AT },
      config: { ...active, settings: "newer" },
      want: "waits",
    },
    {
      name: "that was refused stops the rollout",
      now: AT + 1_000,
      sent: { at: AT, outcome: "refused", detail: "unknown keys" },
      config: reverted,
      want: `Refused, failed new refused: ${words.refused("unknown keys")}`,
    },
    {
      name: "that was never sent is released",
      now: AT + 1_000,
      notes: { ...begun({}), ...heldBack(AT) },
      config: reverted,
      want: "HeldBack",
    },
    {
      name: "held back under an earlier intent says nothing of this one",
      now: AT + 1_000,
      notes: heldBack(AT - 1_000),
      config: reverted,
      want: "waits",
    },
    {
      name: "that the machine took back is not judged before its time is over",
      now: AT + TRY_MS,
      sent: { at: AT },
      config: reverted,
      trouble: "silent",
      want: "waits",
    },
    {
      name: "that the machine took back stops the rollout with what was seen",
      now: late,
      sent: { at: AT },
      config: reverted,
      trouble: "its Talos API does not answer",
      want: `TakenBack, failed new reverted: ${words.unwellInTrial("its Talos API does not answer")}`,
    },
    {
      name: "that nobody told the machine to keep, as when the Kubernetes API was away, is begun anew",
      now: late,
      sent: { at: AT, ranBefore: "ran" },
      config: { ...reverted, activeHash: "ran" },
      want: `TakenBack, failed new reverted x1: ${words.notToldToKeep()}`,
    },
    {
      name: "that nobody told the machine to keep three times in a row stops the rollout",
      now: late,
      sent: { at: AT },
      fact: { failed: { configHash: "new", kind: "reverted", why: "it took them back", tries: 2 } },
      config: reverted,
      want: `TakenBack, failed new reverted: ${words.times(words.notToldToKeep(), 3)}`,
    },
    {
      name: "of settings that are asked for no more is no failure of them",
      now: late,
      sent: { at: AT },
      config: { ...reverted, settings: "newer" },
      want: "TakenBack",
    },
    {
      name: "of settings that are asked for no more, with which the machine was not well, is remembered",
      now: late,
      sent: { at: AT },
      config: { ...reverted, settings: "newer" },
      trouble: "its node is not ready",
      want: `TakenBack, failed new reverted: ${words.unwellInTrial("its node is not ready")}`,
    },
    {
      name: "that somebody else ended with another configuration stops the rollout, and says so",
      now: late,
      sent: { at: AT, ranBefore: "ran" },
      config: { ...reverted, activeHash: "by hand" },
      want: `TakenBack, failed new reverted: ${words.replacedInTrial()}`,
    },
    {
      name: "that the machine would not keep stops the rollout with its words",
      now: late,
      sent: { at: AT },
      others: { [`KeepConfig/${name}`]: { at: AT + SOAK_MS, outcome: "refused", detail: "disk full" } },
      config: reverted,
      want: `Refused, failed new refused: ${words.notKept("disk full")}`,
    },
    {
      name: "is not kept after a glance, though the clock was set forward meanwhile",
      now: soon,
      sent: { at: AT },
      config: { ...active, onDisk: "other" },
      over: { soaking: new Set([name]) },
      want: "waits",
    },
    {
      name: "that nobody knows of is begun anew",
      now: late,
      sent: { at: AT, outcome: "unknown" },
      config: reverted,
      want: `NotHeardOf, failed new unknown x1: ${words.neverInForce()}`,
    },
    {
      name: "that nobody knows of, after which the machine was in trouble, stops the rollout",
      now: late,
      sent: { at: AT, outcome: "unknown" },
      config: reverted,
      trouble: "gone",
      want: `TakenBack, failed new reverted: ${words.unwellInTrial("gone")}`,
    },
    {
      name: "that a boot of the machine ended is begun anew, whatever was seen meanwhile",
      now: late,
      sent: { at: AT },
      config: { ...reverted, bootId: "boot-2" },
      trouble: "silent",
      want: `TakenBack, failed new reverted x1: ${words.bootedInTrial()}`,
    },
    {
      name: "that ended in the third boot in a row stops the rollout",
      now: late,
      sent: { at: AT },
      fact: { failed: { configHash: "new", kind: "reverted", why: "it was booted", tries: 2 } },
      config: { ...reverted, bootId: "boot-2" },
      want: `TakenBack, failed new reverted: ${words.times(words.bootedInTrial(), 3)}`,
    },
    {
      name: "is judged by a reading from after its time only",
      now: late,
      sent: { at: AT },
      config: { ...reverted, at: DEADLINE - 1 },
      want: "waits",
    },
    {
      name: "on a machine that stays silent ends some time",
      now: DEADLINE + ARRIVES_MS,
      sent: { at: AT },
      look: silent,
      want: `TakenBack, failed new reverted: ${words.unwellInTrial("its Talos API does not answer as before (unreachable)")}`,
    },
    {
      name: "on a machine that is paused by itself is no failure of the settings",
      now: DEADLINE + ARRIVES_MS,
      sent: { at: AT },
      look: silent,
      over: { held: new Set([name]) },
      want: `TakenBack, failed new reverted x1: ${words.notToldToKeep()}`,
    },
    {
      name: "that does not end, as one during another trial, is kept where the machine is well",
      now: DEADLINE + SOAK_MS + 1_000,
      config: { ...active, onDisk: "other" },
      want: "KeepConfig",
    },
    {
      name: "that does not end on a machine that is not well is left to a person",
      now: late,
      config: { ...active, onDisk: "other" },
      look: { ...running(member(0, 3), { ready: false }), at: late },
      want: `TakenBack, failed new reverted: ${words.trialStays("its node is not ready")}`,
    },
    {
      name: "of a machine that was wiped is over",
      now: AT + 1_000,
      look: {
        kind: "maintenance",
        at: AT,
        since: AT,
        spki: "x",
        version: undefined,
        platform: undefined,
        uuid: undefined,
        macs: [],
        disks: undefined,
      },
      want: "Gone",
    },
  ];
  for (const { name: title, want, ...given } of cases) test(title, () => assert.equal(told(seenOf(given)), want));

  test("is kept by nobody who just took over", () =>
    assert.equal(
      told(seenOf({ now: DEADLINE + SOAK_MS + 1_000, config: { ...active, onDisk: "other" }, over: { mayDisturb: false } })),
      "waits",
    ));
});

describe("a configuration for the disk", () => {
  const staged = { applyMode: "staged", deadline: AT + ARRIVES_MS } as const;
  const rewrite = { applyMode: "no-reboot", deadline: AT + ARRIVES_MS } as const;
  for (const { name: title, want, ...given } of [
    { name: "waits until it is there", now: AT + 1_000, intent: staged, sent: { at: AT }, config: reverted, want: "waits" },
    {
      name: "is staged when the disk shows it",
      now: AT + 1_000,
      intent: staged,
      config: { changes: [change], diskHash: "staged-text" },
      want: "Staged, staged new/boot-1/staged-text",
    },
    {
      name: "is staged when it was answered by a Talos that does not tell its disk",
      now: AT + 1_000,
      intent: staged,
      sent: { at: AT },
      config: { changes: [change], onDisk: "unknown" },
      want: "Staged, staged new/boot-1/undefined",
    },
    {
      name: "is not staged on a Talos that does not tell, without an answer",
      now: AT + 1_000,
      intent: staged,
      config: { changes: [change], onDisk: "unknown" },
      want: "waits",
    },
    {
      name: "is begun anew when it did not arrive",
      now: AT + ARRIVES_MS + 1,
      intent: staged,
      config: reverted,
      want: `NotHeardOf, failed new unknown x1: ${words.neverOnDisk()}`,
    },
    {
      name: "that is in force already is done when the disk shows it",
      now: AT + 1_000,
      intent: rewrite,
      config: active,
      want: "Applied, now new/tried",
    },
  ] as readonly (Given & { readonly name: string; readonly want: string })[])
    test(title, () => assert.equal(told(seenOf(given)), want));
});

describe("a boot", () => {
  const boot = { what: "Reboot", deadline: AT + REBOOT_MS } as const;
  const away = { ...running(member(0, 3)), stage: "booting", at: AT } as const;
  const isFull = { alarms: ["x"], raised: [{ member: "0000000000000001", kind: "no-space" }] } as const;
  for (const { name: title, want, ...given } of [
    { name: "is ordered when nobody did", now: AT + 1_000, intent: boot, config: {}, want: "RebootMachine" },
    { name: "is not ordered twice at once", now: AT + 30_000, intent: boot, sent: { at: AT }, config: {}, want: "waits" },
    {
      name: "is ordered again when the machine did not boot",
      now: AT + 130_000,
      intent: boot,
      sent: { at: AT },
      config: {},
      want: "RebootMachine",
    },
    {
      name: "is not ordered again when another control plane has died since",
      now: AT + 130_000,
      intent: boot,
      sent: { at: AT },
      config: {},
      othersLook: silent,
      want: "waits",
    },
    {
      name: "is not ordered again at once when the order was held back",
      now: AT + 130_000,
      intent: boot,
      sent: { at: AT },
      notes: heldBack(AT + 129_000),
      config: {},
      want: "waits",
    },
    { name: "is waited for while the machine is away", now: AT + 30_000, intent: boot, sent: { at: AT }, look: silent, want: "waits" },
    {
      name: "is not over while the machine boots",
      now: AT + 30_000,
      intent: boot,
      sent: { at: AT },
      config: { bootId: "boot-2" },
      look: away,
      want: "waits",
    },
    {
      name: "is not over while etcd on it is not healthy",
      now: AT + 30_000,
      intent: boot,
      sent: { at: AT },
      config: { bootId: "boot-2" },
      look: { ...running({ ...member(0, 3), isHealthy: false }), at: AT + 30_000 },
      want: "waits",
    },
    {
      name: "is over with another boot id and a machine that runs",
      now: AT + 30_000,
      intent: boot,
      config: { bootId: "boot-2" },
      want: "Booted",
    },
    {
      name: "is not over while its node is not ready",
      now: AT + 30_000,
      intent: boot,
      config: { bootId: "boot-2" },
      look: { ...running(member(0, 3)), ready: false, unmet: [{ name: "nodeReady", reason: "x" }], at: AT + 30_000 },
      want: "waits",
    },
    {
      name: "waits five minutes for its node while files are full, for one that was ready before stays so",
      now: AT + 299_000,
      intent: boot,
      config: { bootId: "boot-2" },
      look: { ...running({ ...member(0, 3), ...isFull }), ready: false, unmet: [{ name: "nodeReady", reason: "x" }], at: AT + 299_000 },
      want: "waits",
    },
    {
      name: "is over without its node while files are full, for no kubelet can tell",
      now: AT + 300_000,
      intent: boot,
      config: { bootId: "boot-2" },
      look: { ...running({ ...member(0, 3), ...isFull }), ready: false, unmet: [{ name: "nodeReady", reason: "x" }], at: AT + 300_000 },
      want: "Booted",
    },
    {
      name: "is not over while its member knows no leader",
      now: AT + 300_000,
      intent: boot,
      config: { bootId: "boot-2" },
      look: { ...running({ ...member(0, 3), ...isFull, leader: "0" }), at: AT + 300_000 },
      want: "waits",
    },
    {
      name: "for settings that bring no space is not ordered again while files are full",
      now: AT + 130_000,
      intent: boot,
      sent: { at: AT },
      config: { changes: [change] },
      look: { ...running({ ...member(0, 3), ...isFull }), at: AT + 130_000 },
      want: "waits",
    },
    {
      name: "for a larger quota is ordered again while files are full",
      now: AT + 130_000,
      intent: boot,
      sent: { at: AT },
      config: { changes: [{ ...change, path: "cluster.etcd.extraArgs.quota-backend-bytes", after: "4294967296" }] },
      look: { ...running({ ...member(0, 3), ...isFull }), at: AT + 130_000 },
      want: "RebootMachine for space",
    },
    {
      name: "is not over before its stage is running, full or not",
      now: AT + 30_000,
      intent: boot,
      config: { bootId: "boot-2" },
      look: { ...running({ ...member(0, 3), ...isFull }), stage: "booting", at: AT + 30_000 },
      want: "waits",
    },
    {
      name: "is not over while its member is not healthy, full or not",
      now: AT + 30_000,
      intent: boot,
      config: { bootId: "boot-2" },
      look: { ...running({ ...member(0, 3), ...isFull, isHealthy: false }), at: AT + 30_000 },
      want: "waits",
    },
    {
      name: "is not over while its static pods are not ready, which it says by itself although files are full",
      now: AT + 300_000,
      intent: boot,
      config: { bootId: "boot-2" },
      look: {
        ...running({ ...member(0, 3), ...isFull }),
        ready: false,
        unmet: [{ name: "staticPods", reason: "kube-system/kube-apiserver-cp-1 not ready" }],
        at: AT + 300_000,
      },
      want: "waits",
    },
    {
      name: "that could not be ordered is released",
      now: AT + 1_000,
      intent: boot,
      notes: { ...begun(boot), ...heldBack(AT) },
      config: {},
      want: "HeldBack",
    },
    {
      name: "that another process may have ordered stays open when the order of this one is held back",
      now: AT + 60_000,
      intent: boot,
      notes: heldBack(AT + 59_000),
      config: {},
      want: "waits",
    },
    {
      name: "from which a machine does not come back stops the rollout",
      now: AT + REBOOT_MS + 1,
      intent: boot,
      sent: { at: AT },
      look: silent,
      want: `TakenBack, failed new reverted: ${words.unwellAfterBoot("its Talos API does not answer as before (unreachable)")}`,
    },
    { name: "that did not take place in its time is released", now: AT + REBOOT_MS + 1, intent: boot, config: {}, want: "HeldBack" },
    {
      name: "is waited for although the clock was set forward",
      now: AT + 6 * 3_600_000,
      intent: boot,
      sent: { at: AT },
      look: silent,
      over: { overdue: new Set() },
      want: "waits",
    },
    {
      name: "that has taken place is waited for until the machine is well, although the clock was set forward",
      now: AT + 6 * 3_600_000,
      intent: { ...boot, bootIdBefore: "boot-0" },
      sent: { at: AT },
      config: {},
      look: { ...away, at: AT + 6 * 3_600_000 },
      over: { overdue: new Set() },
      want: "waits",
    },
    {
      name: "from which a machine does not come back stops the rollout although the clock was set back",
      now: AT + 1_000,
      intent: boot,
      sent: { at: AT },
      look: silent,
      over: { overdue: new Set([name]), watchedSince: AT - ARRIVES_MS },
      want: `TakenBack, failed new reverted: ${words.unwellAfterBoot("its Talos API does not answer as before (unreachable)")}`,
    },
    {
      name: "that did not take place in its time is released although the clock was set back",
      now: AT + 1_000,
      intent: boot,
      config: {},
      over: { overdue: new Set([name]) },
      want: "HeldBack",
    },
    {
      name: "that began as its time ended, as when a clock was set, is waited for",
      now: AT + REBOOT_MS + 1,
      intent: boot,
      config: {},
      look: { ...running(member(0, 3)), at: AT + REBOOT_MS + 1, stage: "rebooting" },
      want: "waits",
    },
  ] as readonly (Given & { readonly name: string; readonly want: string })[])
    test(title, () => assert.equal(told(seenOf(given)), want));
});

describe("effects on machines that leave", () => {
  const released = (given: Given): boolean => releaseConfig.decide(assess(seenOf(given))) !== undefined;
  const going = { controlPlane: controlPlane(3, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) };
  test("a trial holds up no deletion", () => assert.ok(released({ now: AT + 1_000, over: going })));
  test("a boot that was ordered is waited for", () => {
    const intent = { what: "Reboot", deadline: AT + REBOOT_MS } as const;
    assert.ok(!released({ now: AT + 1_000, intent, look: silent, over: going }));
    assert.ok(released({ now: AT + ARRIVES_MS + 1, intent, over: going }));
    assert.ok(released({ now: AT + REBOOT_MS + 1, intent, look: silent, over: going }));
    assert.ok(!released({ now: AT + REBOOT_MS + 1, intent, look: silent, over: { ...going, overdue: new Set() } }));
  });
  test("the end of a boot leaves the wipe open that was begun meanwhile", () => {
    const boot = seenOf({ now: AT + ARRIVES_MS + 1, intent: { what: "Reboot", deadline: AT + REBOOT_MS }, over: going });
    assert.ok(boot.record.kind === "present");
    const { value } = boot.record;
    const wipe = intentOf({ what: "Reset", at: AT + 1_000 });
    const both = {
      ...boot,
      record: { ...boot.record, value: { ...value, facts: { ...value.facts, intents: [...value.facts.intents, wipe] } } },
    };
    const [action] = releaseConfig.decide(assess(both))?.actions ?? [];
    assert.ok(action?.kind === "WriteRecord");
    assert.deepEqual(
      action.facts.intents.map(({ what }) => what),
      ["Reset"],
    );
  });
  test("a cluster that stays keeps its effects", () => assert.ok(!released({ now: AT + 1_000 })));
});

describe("a process that has just begun and finds an effect whose time is over", () => {
  const over = { what: "WriteMeta", deadline: AT + META_MS } as const;
  const boot = { what: "Reboot", deadline: AT + REBOOT_MS } as const;
  for (const { what, intent } of [
    { what: "settings for META", intent: over },
    { what: "a boot", intent: boot },
  ])
    for (const look of [{ kind: "not-asked" }, { kind: "silent", at: NOW, since: NOW, detail: "no answer" }] as const)
      test(`concludes nothing about ${what} from a machine that it has not met yet (${look.kind})`, () => {
        const now = intent.deadline + 60_000;
        const seenAfter = (ms: number): Observed => seenOf({ now, intent, look, over: { watchedSince: now - ms } });
        assert.equal(told(seenAfter(1_000)), "waits");
        assert.match(told(seenAfter(ARRIVES_MS)), /^TakenBack, failed/);
      });
});
