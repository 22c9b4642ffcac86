import assert from "node:assert/strict";
import { after, before } from "node:test";
import { META_KEYS } from "@talos-operator/talos/client";
import type { ActionOf, ClusterFacts, IntentFact, Observed } from "@talos-operator/operator/testing";
import { asPerson } from "../stories/as-person.ts";
import { createEffectWorld } from "./effect-world.ts";
import type { EffectWorld, Lie, Meanwhile } from "./effect-world.ts";
import { lastRows, pausedMachine, play } from "./held-back.ts";
import type { Row } from "./held-back.ts";

/** 10.0.0.1 leads etcd, 10.0.1.1 is a worker on which another Talos is installed and not booted, 10.0.0.3 has one staged. All run v1.13.9. */
let world: EffectWorld;
let known: ClusterFacts;
let seen: Observed;

before(async () => {
  world = await createEffectWorld("ready");
  known = await world.facts();
  await asPerson(world.story, "10.0.1.1", (client) => client.metaWrite(META_KEYS.upgradeFallback, "Talos-v1.13.9.efi"));
  await asPerson(world.story, staged, (client) => client.metaWrite(META_KEYS.stagedImage, "ghcr.io/siderolabs/installer:v1.13.11"));
  seen = await world.seen();
});
after(() => world.end());

const cp = "10.0.0.2";
const worker = "10.0.1.1";
const staged = "10.0.0.3";
const everywhere = (): EffectWorld => world;

const fact = (address: string): ClusterFacts["machines"][number] => {
  const found = known.machines.find((one) => one.address === address);
  assert.ok(found !== undefined);
  return found;
};
const bootId = (address: string): string => world.story.datacenter.machine(address).state.bootId;
const target = (address: string): { readonly machine: string; readonly address: string; readonly ifUuid: string } => ({
  machine: fact(address).name,
  address,
  ifUuid: fact(address).uuid,
});
const step = (address: string) => ({
  ...target(address),
  role: fact(address).role,
  ifBootId: bootId(address),
  ifVersion: "v1.13.9",
  version: "v1.13.10",
  image: "ghcr.io/siderolabs/installer:v1.13.10",
});
const open = (what: IntentFact["what"], address: string, over: Partial<IntentFact> = {}): IntentFact => ({
  what,
  role: fact(address).role,
  machine: fact(address).name,
  address,
  uuid: fact(address).uuid,
  at: world.story.time.now(),
  deadline: world.story.time.now() + 60_000,
  why: "",
  bootIdBefore: bootId(address),
  talosVersion: "v1.13.10",
  talosBefore: "v1.13.9",
  ...over,
});
const withOnly =
  (...intents: readonly IntentFact[]) =>
  (facts: ClusterFacts): ClusterFacts => ({ ...facts, intents });
const failedBefore = (facts: ClusterFacts): ClusterFacts => ({
  ...facts,
  quarantine: [{ version: "v1.13.10", machine: "another", at: 0, why: "It failed." }],
});

/** What the worker runs failed on it. */
const failedHere = (facts: ClusterFacts): ClusterFacts => ({
  ...facts,
  quarantine: [{ version: "v1.13.9", machine: fact(worker).name, at: 0, why: "It failed." }],
});

const untold = (type: string, code: number, address: string): Lie => ({
  method: "Get",
  address,
  tell: (reply: object, request: { readonly type: string }) => {
    if (request.type !== type) return reply;
    throw Object.assign(new Error("not told"), { name: "TalosCallFailure" as const, code });
  },
});
const untoldMember = (address: string): Meanwhile => ({ lies: [untold("EtcdMembers.etcd.talos.dev", 7, address)] });
/** One member lists one member less than the others. */
const differing = (address: string): Lie => ({
  method: "EtcdMemberList",
  address,
  tell: (reply: { readonly messages: readonly { members: unknown[] }[] }) => {
    for (const message of reply.messages) message.members = message.members.slice(0, 2);
    return reply;
  },
});
/** A member of the list does not vote yet. */
const learning = (address: string): Lie => ({
  method: "EtcdMemberList",
  tell: (reply: { readonly messages: readonly { readonly members: readonly { isLearner: boolean; readonly id: bigint }[] }[] }) => {
    for (const { members } of reply.messages)
      for (const member of members) member.isLearner = member.id === BigInt(`0x${fact(address).memberId ?? ""}`);
    return reply;
  },
});
/** It runs another Talos by then. */
const runs = (version: string): Meanwhile => ({
  lies: [
    {
      method: "Version",
      tell: (reply: { readonly messages: readonly { readonly version?: { tag: string } }[] }) => {
        for (const message of reply.messages) if (message.version !== undefined) message.version.tag = version;
        return reply;
      },
    },
  ],
});
/** GRUB starts every machine, with the kernel arguments of its settings. */
const byGrub: Lie = {
  method: "Get",
  tell: (reply: { readonly resource?: { readonly spec?: { yamlSpec: string; protoSpec: Uint8Array } } }) => {
    const spec = reply.resource?.spec;
    const ofImage = /(bootedWithUKI|grubUseUKICmdline): true/;
    if (spec !== undefined && ofImage.test(spec.yamlSpec))
      Object.assign(spec, { yamlSpec: spec.yamlSpec.replace(ofImage, "$1: false"), protoSpec: new Uint8Array() });
    return reply;
  },
};
/** Its etcd does not run. */
const stopped = (address: string): Lie => ({
  method: "ServiceList",
  address,
  tell: (reply: { readonly messages: readonly { readonly services: readonly { readonly id: string; state: string }[] }[] }) => {
    for (const { services } of reply.messages) for (const service of services) if (service.id === "etcd") service.state = "Failed";
    return reply;
  },
});
/** A clone of the worker is part of the cluster, and the network card is not the one that was written down. */
const cloned = (facts: ClusterFacts): ClusterFacts => ({
  ...facts,
  machines: facts.machines.map((one) =>
    one.address === cp ? { ...one, macs: ["02:00:00:00:00:99"] } : one.address === worker ? { ...one, uuid: fact(cp).uuid } : one,
  ),
});

/** etcd that does not bear the loss of a member. */
function quorumRows<K extends "InstallTalos" | "UpgradeTalos" | "RollBackTalos">(): Readonly<
  Record<"ownMember" | "agreement" | "settled" | "quorum", () => Row<K>>
> {
  // One of two voters is not spared, either.
  const besideSettled: readonly unknown[] = ["quorum"];
  return {
    ownMember: () => untoldMember(cp),
    agreement: () => ({ lies: [differing("10.0.0.1")] }),
    settled: () => ({ lies: [learning("10.0.0.3")], beside: besideSettled as NonNullable<Row<K>["beside"]> }),
    quorum: () => ({ cut: ["10.0.0.1"] }),
  };
}

/** The very Talos that runs is asked for. */
const same = { version: "v1.13.9", schematic: "none", image: "ghcr.io/siderolabs/installer:v1.13.9" };
const toSame = { talosVersion: "v1.13.9", talosSchematic: "none" };

const pulled = (address: string): Omit<ReturnType<typeof step>, "role" | "ifBootId"> => {
  const { role: _role, ifBootId: _boot, ...rest } = step(address);
  return rest;
};

play("PullInstaller", everywhere, {
  action: () => ({ kind: "PullInstaller", ...pulled(cp) }),
  before: () => withOnly(),
  seen: () => seen,
  sends: `Pull ${cp}`,
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: cloned }),
    runsVersion: () => runs("v1.13.10"),
    runsAnotherImage: () => ({ action: { kind: "PullInstaller", ...pulled(cp), ...same } }),
    idle: () => ({ record: withOnly(open("Reboot", cp)) }),
    uuid: () => ({
      record: (facts) => ({ ...facts, machines: facts.machines.map((one) => (one.address === cp ? { ...one, uuid: "another" } : one)) }),
    }),
    notQuarantined: () => ({ record: failedBefore }),
    ...lastRows<"PullInstaller">(everywhere, () => ({ record: withOnly(open("InstallTalos", cp)) })),
  },
  also: {
    "kernel arguments of its settings that it lacks no more": () => ({
      action: { kind: "PullInstaller", ...pulled(cp), ...same, ifLacking: true },
      lies: [byGrub],
    }),
    "kernel arguments that its boot loader takes from no settings": () => ({
      action: { kind: "PullInstaller", ...pulled(cp), ...same, ifLacking: true },
    }),
  },
});

const installing = (over: Partial<IntentFact> = {}): IntentFact => open("InstallTalos", cp, over);

play("InstallTalos", everywhere, {
  action: () => ({ kind: "InstallTalos", ...step(cp) }),
  before: () => withOnly(installing()),
  seen: () => seen,
  sends: `Upgrade ${cp}`,
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned(withOnly(installing())(facts)) }),
    sameBoot: () => ({
      action: { kind: "InstallTalos", ...step(cp), ifBootId: "before" },
      before: withOnly(installing({ bootIdBefore: "before" })),
    }),
    runsVersion: () => runs("v1.13.10"),
    runsAnotherImage: () => ({ action: { kind: "InstallTalos", ...step(cp), ...same }, before: withOnly(installing(toSame)) }),
    nothingInstalled: () => ({
      action: { kind: "InstallTalos", ...step(worker) },
      before: withOnly(open("InstallTalos", worker)),
      sends: `Upgrade ${worker}`,
    }),
    ...quorumRows<"InstallTalos">(),
    boot: () => ({ record: withOnly(installing({ bootIdBefore: "another" })) }),
    version: () => ({ record: withOnly(installing({ talosVersion: "v1.14.0" })) }),
    schematic: () => ({ record: withOnly(installing({ talosSchematic: "5".repeat(64) })) }),
    uuid: () => ({ record: withOnly(installing({ uuid: "another" })) }),
    notQuarantined: () => ({ record: (facts) => failedBefore(withOnly(installing())(facts)) }),
    ...lastRows<"InstallTalos">(everywhere, () => ({ record: withOnly(open("Reboot", cp)) })),
  },
  also: { "another machine at the address": () => ({ moved: [cp, worker] }) },
});

const upgrading = (over: Partial<IntentFact> = {}): IntentFact => open("UpgradeTalos", cp, over);

play("UpgradeTalos", everywhere, {
  action: () => ({ kind: "UpgradeTalos", ...step(cp) }),
  before: () => withOnly(upgrading()),
  seen: () => seen,
  sends: `Upgrade ${cp}`,
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned(withOnly(upgrading())(facts)) }),
    sameBoot: () => ({
      action: { kind: "UpgradeTalos", ...step(cp), ifBootId: "before" },
      before: withOnly(upgrading({ bootIdBefore: "before" })),
    }),
    runsVersion: () => runs("v1.13.10"),
    runsAnotherImage: () => ({ action: { kind: "UpgradeTalos", ...step(cp), ...same }, before: withOnly(upgrading(toSame)) }),
    nothingInstalled: () => ({
      action: { kind: "UpgradeTalos", ...step(worker) },
      before: withOnly(open("UpgradeTalos", worker)),
      sends: `Upgrade ${worker}`,
    }),
    ...quorumRows<"UpgradeTalos">(),
    boot: () => ({ record: withOnly(upgrading({ bootIdBefore: "another" })) }),
    version: () => ({ record: withOnly(upgrading({ talosVersion: "v1.14.0" })) }),
    schematic: () => ({ record: withOnly(upgrading({ talosSchematic: "5".repeat(64) })) }),
    uuid: () => ({ record: withOnly(upgrading({ uuid: "another" })) }),
    notQuarantined: () => ({ record: (facts) => failedBefore(withOnly(upgrading())(facts)) }),
    ...lastRows<"UpgradeTalos">(everywhere, () => ({ record: withOnly(open("Reboot", cp)) })),
  },
  also: {
    "kernel arguments of its settings that it lacks no more": () => ({
      action: { kind: "UpgradeTalos", ...step(cp), ...same, ifLacking: true },
      before: withOnly(upgrading(toSame)),
      lies: [byGrub],
    }),
    "an installation on a machine on which nothing failed that it runs": () => ({
      action: { kind: "UpgradeTalos", ...step(worker), ifBroken: true },
      before: withOnly(open("UpgradeTalos", worker)),
    }),
    "an installation on a machine that is not known to be broken": () => ({
      action: { kind: "UpgradeTalos", ...step(worker) },
      before: (facts) => failedHere(withOnly(open("UpgradeTalos", worker))(facts)),
    }),
  },
});

/** The machines run v1.13.9 by now, and were v1.13.8 before. */
const back = (address: string, over: Partial<ActionOf<"RollBackTalos">> = {}): ActionOf<"RollBackTalos"> => ({
  kind: "RollBackTalos",
  ...target(address),
  role: fact(address).role,
  ifBootId: bootId(address),
  ifVersion: "v1.13.9",
  back: "v1.13.8",
  ...over,
});
const givenUp = (address: string, over: Partial<IntentFact> = {}): IntentFact =>
  open("Reboot", address, {
    bootIdBefore: "before",
    rollsBackFrom: bootId(address),
    talosVersion: "v1.13.9",
    talosBefore: "v1.13.8",
    ...over,
  });

play("RollBackTalos", everywhere, {
  action: () => back(cp),
  before: () => withOnly(givenUp(cp)),
  seen: () => seen,
  sends: `Rollback ${cp}`,
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned(withOnly(givenUp(cp))(facts)) }),
    sameBoot: () => ({ action: back(cp, { ifBootId: "later" }), before: withOnly(givenUp(cp, { rollsBackFrom: "later" })) }),
    runsVersion: () => runs("v1.13.8"),
    // What META names there is no v1.13.8.
    otherSlot: () => ({ action: back(worker), before: withOnly(givenUp(worker)), sends: `Rollback ${worker}` }),
    // Its data are those of 3.6, and v1.10 brings 3.5.
    readsData: () => ({ action: back(cp, { back: "v1.10.9" }), before: withOnly(givenUp(cp, { talosBefore: "v1.10.9" })) }),
    ...quorumRows<"RollBackTalos">(),
    boot: () => ({ record: withOnly(givenUp(cp, { rollsBackFrom: "another" })) }),
    slots: () => ({ record: withOnly(givenUp(cp, { talosBefore: "v1.13.7" })) }),
    uuid: () => ({ record: withOnly(givenUp(cp, { uuid: "another" })) }),
    ...lastRows<"RollBackTalos">(everywhere, () => ({ record: withOnly() })),
  },
  also: {
    "a Talos that is staged": () => ({ action: back(staged), before: withOnly(givenUp(staged)) }),
    "data that the etcd of before does not read, where its own does not run": () => ({
      action: back(cp, { back: "v1.10.9" }),
      before: withOnly(givenUp(cp, { talosBefore: "v1.10.9" })),
      lies: [stopped(cp)],
    }),
  },
});
