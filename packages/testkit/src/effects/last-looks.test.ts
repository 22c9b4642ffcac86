import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { configQuestion, machinesOf, running } from "@talos-operator/operator/testing";
import type { Action, ActionOf, ClusterFacts, EffectKind, IntentFact, Observed } from "@talos-operator/operator/testing";
import { kinds } from "../stories/story.ts";
import { createEffectWorld } from "./effect-world.ts";
import type { EffectWorld, Lie, Meanwhile } from "./effect-world.ts";
import { lastRows, pausedMachine, play, storedAs } from "./held-back.ts";
import type { Row } from "./held-back.ts";

/** 10.0.0.1 leads etcd, 10.0.0.3 is not listed any more, 10.0.1.1 is a worker. */
let world: EffectWorld;
let known: ClusterFacts;
let seen: Observed;

before(async () => {
  world = await createEffectWorld("ready");
  const controlPlanes = world.story.client.resource<TalosControlPlane>(kinds.controlPlane);
  const metalSpec = { machines: ["10.0.0.1", "10.0.0.2"].map((address) => ({ address })) };
  const full = await controlPlanes.get({ namespace: "default", name: "demo" });
  await controlPlanes.patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { metalSpec } } });
  known = await world.facts();
  const leaver = machinesOf(full).find(({ address }) => address === "10.0.0.3");
  assert.ok(leaver !== undefined);
  seen = await world.seen({ former: [{ declared: leaver, look: running() }] });
});
after(() => world.end());

const fact = (address: string): ClusterFacts["machines"][number] => {
  const found = known.machines.find((one) => one.address === address);
  assert.ok(found !== undefined);
  return found;
};
const open = (what: IntentFact["what"], address: string, over: Partial<IntentFact> = {}): IntentFact => {
  const { name, uuid, role } = fact(address);
  return {
    what,
    role,
    machine: name,
    address,
    uuid,
    at: world.story.time.now(),
    deadline: world.story.time.now() + 1_000,
    why: "",
    ...over,
  };
};
/** What is said of an intent that was written nearly a minute ago. */
const longAgo = (): Partial<IntentFact> => ({ at: world.story.time.now() - 55_000 });
const withOnly =
  (...intents: readonly IntentFact[]) =>
  (facts: ClusterFacts): ClusterFacts => ({ ...facts, intents });
const target = (address: string): { readonly machine: string; readonly address: string; readonly ifUuid: string } => ({
  machine: fact(address).name,
  address,
  ifUuid: fact(address).uuid,
});

/** A resource that the machine does not tell. */
const untold = (type: string, code: number, address: string): Lie => ({
  method: "Get",
  address,
  tell: (reply: object, request: { readonly type: string }) => {
    if (request.type !== type) return reply;
    throw Object.assign(new Error("not told"), { name: "TalosCallFailure" as const, code });
  },
});

/** Every member names this one as leader. */
const led = (address: string): Lie => ({
  method: "EtcdStatus",
  tell: (reply: { readonly messages: readonly { readonly memberStatus?: { leader: bigint } }[] }) => {
    for (const { memberStatus } of reply.messages)
      if (memberStatus !== undefined) memberStatus.leader = BigInt(`0x${fact(address).memberId ?? ""}`);
    return reply;
  },
});

/** One member lists one member less than the others. */
const differing = (address: string): Lie => ({
  method: "EtcdMemberList",
  address,
  tell: (reply: { readonly messages: readonly { members: unknown[] }[] }) => {
    for (const message of reply.messages) message.members = message.members.slice(0, 2);
    return reply;
  },
});

/** Every member lists these alone. */
const onlyOf = (...addresses: readonly string[]): Lie => ({
  method: "EtcdMemberList",
  tell: (reply: { readonly messages: readonly { members: readonly { readonly id: bigint }[] }[] }) => {
    const ids = new Set(addresses.map((address) => BigInt(`0x${fact(address).memberId ?? ""}`)));
    for (const message of reply.messages) message.members = message.members.filter(({ id }) => ids.has(id));
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

/** A clone of the machine is part of the cluster, and the network card is not the one that was written down. */
const cloned =
  (address: string) =>
  (facts: ClusterFacts): ClusterFacts => ({
    ...facts,
    machines: facts.machines.map((one) =>
      one.address === address
        ? { ...one, macs: ["02:00:00:00:00:99"] }
        : one.address === (address === "10.0.1.1" ? "10.0.0.2" : "10.0.1.1")
          ? { ...one, uuid: fact(address).uuid }
          : one,
    ),
  });

/** The worker pool, as it is stored by then. */
const goingPool = (over: object = {}): NonNullable<Meanwhile["stored"]> =>
  storedAs<TalosWorker>("TalosWorker", ({ metadata }) => ({
    metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z", ...over },
  }));
const annotated =
  (mode: string) =>
  ({ metadata }: KubeObject): object => ({ metadata: { ...metadata, annotations: { "talos.alperen.cloud/reconcile-mode": mode } } });

/** etcd that does not bear the loss of a member. @param ill a machine that is not well @param joins a member that does not vote yet */
function quorumRows<K extends EffectKind>(
  ill: string,
  joins: string,
  over: Partial<Row<K>> = {},
): Readonly<Record<"agreement" | "settled" | "quorum", () => Row<K>>> {
  return {
    agreement: () => ({ ...over, lies: [differing(ill)] }),
    settled: () => ({ ...over, lies: [learning(joins)] }),
    quorum: () => ({ ...over, cut: [ill] }),
  };
}
const untoldMember = (address: string): Meanwhile => ({ lies: [untold("EtcdMembers.etcd.talos.dev", 7, address)] });

type Unlisted =
  "sameControlPlane" | "pool" | "poolStays" | "poolReconciled" | "unlisted" | "unlistedBefore" | "poolOfCluster" | "notByHand";

/** No wish stands that 10.0.0.3 leaves. @param written the record under its intent @param listed the same for 10.0.0.2, which is listed */
function unlistedRows<K extends EffectKind>(
  written: () => (facts: ClusterFacts) => ClusterFacts,
  listed: () => Row<K>,
): Readonly<Record<Unlisted, () => Row<K>>> {
  const ofPool = (pool: string): Observed => ({
    ...seen,
    former: seen.former.map(({ declared, look }) => ({ declared: { ...declared, owner: { kind: "TalosWorker", name: pool } }, look })),
  });
  const lists = (address: string) =>
    storedAs<TalosWorker>("TalosWorker", ({ metadata, spec }) => ({
      metadata: { ...metadata, name: "demo" },
      spec: { ...spec, metalSpec: { machines: [{ address }] } },
    }));
  return {
    sameControlPlane: () => ({
      stored: storedAs("TalosControlPlane", ({ metadata }) => ({ metadata: { ...metadata, uid: "another" } })),
      beside: ["word"],
    }),
    pool: () => ({ seen: ofPool("gone") }),
    poolStays: () => ({
      stored: storedAs("TalosControlPlane", ({ metadata }) => ({ metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } })),
    }),
    poolReconciled: () => ({ stored: storedAs("TalosControlPlane", annotated("import")) }),
    unlisted: listed,
    unlistedBefore: () => ({
      before: (facts) => ofRecordedPool(fact("10.0.0.3").name, "demo")(written()(facts)),
      stored: lists("10.0.0.3"),
    }),
    poolOfCluster: () => ({
      seen: ofPool(seen.workers[0]?.metadata.name ?? ""),
      stored: storedAs<TalosWorker>("TalosWorker", ({ spec }) => ({ spec: { ...spec, controlPlaneRef: { name: "another" } } })),
    }),
    notByHand: () => ({ stored: storedAs("TalosMachine", ({ metadata }) => ({ metadata: { ...metadata, ownerReferences: [] } })) }),
  };
}

/** The pool that a machine was written down with. */
const ofRecordedPool =
  (name: string, pool: string) =>
  (facts: ClusterFacts): ClusterFacts => ({
    ...facts,
    machines: facts.machines.map((one) => (one.name === name ? { ...one, pool } : one)),
  });

const reset = (over: Partial<ActionOf<"ResetMachine">> = {}): ActionOf<"ResetMachine"> => ({
  kind: "ResetMachine",
  ...target("10.0.0.3"),
  isGraceful: true,
  leavesEtcd: true,
  ifUnlisted: "voter",
  ...over,
});
const still = (ifUnlisted: "no-voter" | "no-member" | "no-etcd"): ActionOf<"ResetMachine"> =>
  reset({ leavesEtcd: false, isGraceful: false, ifUnlisted });
const everywhere = (): EffectWorld => world;

/** A worker whose pool goes. */
const ofPool = (stored: Meanwhile["stored"], beside: Row<"ResetMachine">["beside"] = []): Row<"ResetMachine"> => ({
  action: { kind: "ResetMachine", ...target("10.0.1.1") },
  before: withOnly(open("Reset", "10.0.1.1")),
  ...(stored === undefined ? {} : { stored }),
  beside: beside,
  sends: "Reset 10.0.1.1",
});

play("ResetMachine", everywhere, {
  action: () => reset(),
  before: () => withOnly(open("Reset", "10.0.0.3")),
  seen: () => seen,
  sends: "Reset 10.0.0.3",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.3")(withOnly(open("Reset", "10.0.0.3"))(facts)) }),
    ownMember: () => untoldMember("10.0.0.3"),
    ...quorumRows<"ResetMachine">("10.0.0.2", "10.0.0.2"),
    handedOver: () => ({ lies: [led("10.0.0.3")] }),
    samePool: () => ofPool(goingPool({ uid: "another" })),
    poolDeleted: () => ofPool(undefined),
    resetPolicy: () =>
      ofPool(
        storedAs<TalosWorker>("TalosWorker", ({ metadata, spec }) => ({
          metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
          spec: { ...spec, deletionPolicy: "preserve" },
        })),
      ),
    poolUnpaused: () => ofPool(goingPool({ annotations: { "talos.alperen.cloud/reconcile-mode": "disable" } }), ["unpaused"]),
    tellsMember: () => ({ action: still("no-voter"), lies: [untold("EtcdMembers.etcd.talos.dev", 7, "10.0.0.3")] }),
    votersKnown: () => ({ action: still("no-voter"), cut: ["10.0.0.1", "10.0.0.2"] }),
    noVote: () => ({ action: still("no-voter") }),
    membersKnown: () => ({ action: still("no-member"), cut: ["10.0.0.1", "10.0.0.2"] }),
    noMember: () => ({ action: still("no-member") }),
    noEtcd: () => ({ action: still("no-etcd") }),
    ...unlistedRows<"ResetMachine">(
      () => withOnly(open("Reset", "10.0.0.3")),
      () => ({
        action: reset(target("10.0.0.2")),
        before: withOnly(open("Reset", "10.0.0.2")),
        sends: "Reset 10.0.0.2",
      }),
    ),
    address: () => ({ record: withOnly(open("Reset", "10.0.0.3", { address: "10.0.0.9" })) }),
    uuid: () => ({ record: withOnly(open("Reset", "10.0.0.3", { uuid: "another" })) }),
    ...lastRows<"ResetMachine">(everywhere, () => ({ record: withOnly(open("Reboot", "10.0.0.3")) })),
  },
  also: {
    "another machine at the address": () => ({ moved: ["10.0.0.3", "10.0.0.2"] }),
    "a machine that answers for another one": () => ({
      before: (facts) => ({
        ...withOnly(open("Reset", "10.0.0.3"))(facts),
        machines: facts.machines.map((one) => (one.address === "10.0.0.2" ? { ...one, uuid: "another" } : one)),
      }),
    }),
    "two machines that show one member": () => ({ moved: ["10.0.0.2", "10.0.0.1"] }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent on another machine": () => ({
      record: withOnly({ ...open("Reset", "10.0.0.2"), address: "10.0.0.3", uuid: fact("10.0.0.3").uuid }),
    }),
    "a control plane that was made anew while a pool goes": () => ({
      ...ofPool((object) => {
        const going = goingPool()(object);
        return going.kind === "TalosControlPlane" ? { ...going, metadata: { ...going.metadata, uid: "another" } } : going;
      }),
    }),
  },
});

test("a worker whose pool goes is wiped", async () => {
  const { action, before: written, stored } = ofPool(goingPool());
  assert.ok(action !== undefined && written !== undefined && stored !== undefined);
  assert.deepEqual(await world.send(action, seen, written, { stored }), ["Reset 10.0.1.1"]);
});

play("ForfeitLeadership", everywhere, {
  action: () => ({ kind: "ForfeitLeadership", ...target("10.0.0.1") }),
  before: () => withOnly(open("Reset", "10.0.0.1")),
  seen: () => seen,
  sends: "EtcdForfeitLeadership 10.0.0.1",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.1")(withOnly(open("Reset", "10.0.0.1"))(facts)) }),
    // Who does not tell its member is not known to lead.
    ownMember: () => ({ ...untoldMember("10.0.0.1"), beside: ["leads"] }),
    ...quorumRows<"ForfeitLeadership">("10.0.0.2", "10.0.0.2"),
    leads: () => ({ lies: [led("10.0.0.2")] }),
    uuid: () => ({ record: withOnly(open("Reset", "10.0.0.1", { uuid: "another" })) }),
    ...lastRows<"ForfeitLeadership">(everywhere, () => ({ record: withOnly(open("Reboot", "10.0.0.1")) })),
  },
  also: {
    "another machine at the address": () => ({ moved: ["10.0.0.1", "10.0.0.2"] }),
    "an intent on another machine": () => ({ record: withOnly({ ...open("Reset", "10.0.0.2"), uuid: fact("10.0.0.1").uuid }) }),
  },
});

play("LeaveEtcd", everywhere, {
  action: () => ({ kind: "LeaveEtcd", ...target("10.0.0.3") }),
  before: () => withOnly(open("Reset", "10.0.0.3")),
  seen: () => seen,
  sends: "EtcdLeaveCluster 10.0.0.3",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.3")(withOnly(open("Reset", "10.0.0.3"))(facts)) }),
    ownMember: () => untoldMember("10.0.0.3"),
    ...quorumRows<"LeaveEtcd">("10.0.0.2", "10.0.0.2"),
    handedOver: () => ({ lies: [led("10.0.0.3")] }),
    ...unlistedRows<"LeaveEtcd">(
      () => withOnly(open("Reset", "10.0.0.3")),
      () => ({
        action: { kind: "LeaveEtcd", ...target("10.0.0.2") },
        before: withOnly(open("Reset", "10.0.0.2")),
        sends: "EtcdLeaveCluster 10.0.0.2",
      }),
    ),
    address: () => ({ record: withOnly(open("Reset", "10.0.0.3", { address: "10.0.0.9" })) }),
    uuid: () => ({ record: withOnly(open("Reset", "10.0.0.3", { uuid: "another" })) }),
    ...lastRows<"LeaveEtcd">(everywhere, () => ({ record: withOnly(open("Reboot", "10.0.0.3")) })),
  },
  also: { "another machine at the address": () => ({ moved: ["10.0.0.3", "10.0.0.2"] }) },
});

const removal = (over: Partial<ActionOf<"RemoveMember">> = {}): ActionOf<"RemoveMember"> => ({
  kind: "RemoveMember",
  machine: fact("10.0.0.3").name,
  memberId: fact("10.0.0.3").memberId ?? "",
  via: target("10.0.0.1"),
  ...over,
});
const removing = (over: Partial<IntentFact> = {}): IntentFact =>
  open("RemoveMember", "10.0.0.3", { memberId: fact("10.0.0.3").memberId ?? "", ...over });

play("RemoveMember", everywhere, {
  action: () => removal(),
  before: () => withOnly(removing()),
  seen: () => seen,
  always: () => ({ cut: ["10.0.0.3"] }),
  sends: "EtcdRemoveMemberByID 10.0.0.1",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameWitness: () => ({ action: removal({ via: { ...target("10.0.0.1"), ifUuid: "another" } }) }),
    // Of three members one more must not be ill: it is there all the same.
    ...quorumRows<"RemoveMember">("10.0.0.2", "10.0.0.2", { cut: [], beside: ["notShown"] }),
    notShown: () => ({ cut: [] }),
    ...unlistedRows<"RemoveMember">(
      () => withOnly(removing()),
      () => {
        const { name, memberId = "" } = fact("10.0.0.2");
        return {
          action: removal({ machine: name, memberId }),
          before: withOnly(open("RemoveMember", "10.0.0.2", { memberId })),
          cut: ["10.0.0.2"],
        };
      },
    ),
    member: () => ({ record: withOnly(removing({ memberId: "0000000000000001" })) }),
    ...lastRows<"RemoveMember">(everywhere, () => ({ record: withOnly({ ...removing(), what: "Reset" }) })),
  },
  also: { "an intent on another machine": () => ({ record: withOnly(removing({ machine: fact("10.0.0.2").name })) }) },
});

const STRAY = "00000000000000ff";
/** Every member lists one more, at an address of nobody's. @param over.learns a machine whose member has no vote yet @param over.by who lists it; default everybody */
const strange = (
  over: { readonly isLearner?: boolean; readonly at?: string; readonly learns?: string; readonly by?: string } = {},
): Lie => ({
  method: "EtcdMemberList",
  ...(over.by === undefined ? {} : { address: over.by }),
  tell: (reply: { readonly messages: readonly { members: readonly { readonly id: bigint; isLearner: boolean }[] }[] }) => {
    for (const message of reply.messages) {
      const [first] = message.members;
      for (const member of message.members)
        if (over.learns !== undefined) member.isLearner = member.id === BigInt(`0x${fact(over.learns).memberId ?? ""}`);
      const own = {
        id: BigInt(`0x${STRAY}`),
        hostname: "nobodys",
        isLearner: over.isLearner === true,
        peerUrls: [`https://${over.at ?? "10.0.0.99"}:2380`],
      };
      if (first !== undefined) message.members = [...message.members, { ...first, ...own }];
    }
    return reply;
  },
});
const straying = (over: Partial<IntentFact> = {}): IntentFact => open("RemoveStray", "10.0.0.1", { memberId: STRAY, ...over });
play("RemoveStray", everywhere, {
  action: () => ({ kind: "RemoveStray", ...target("10.0.0.1"), memberId: STRAY }),
  before: () => withOnly(straying()),
  seen: () => seen,
  always: () => ({ lies: [strange()] }),
  sends: "EtcdRemoveMemberByID 10.0.0.1",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.1")(withOnly(straying())(facts)) }),
    agreement: () => ({ lies: [strange({ by: "10.0.0.1" })] }),
    settled: () => ({ lies: [strange({ learns: "10.0.0.2" })] }),
    // Where the others are enough to know etcd by, they are enough without a member that nobody shows.
    quorum: () => {
      const { memberId = "" } = fact("10.0.0.2");
      return {
        action: { kind: "RemoveStray", ...target("10.0.0.1"), memberId },
        before: withOnly(straying({ memberId })),
        lies: [],
        cut: ["10.0.0.3"],
        beside: ["nobodys"],
      };
    },
    nobodys: () => ({ lies: [strange({ isLearner: true, at: "10.0.0.3" })], cut: ["10.0.0.3"] }),
    sameList: () => ({
      stored: storedAs<TalosControlPlane>("TalosControlPlane", ({ spec }) => ({
        spec: { ...spec, metalSpec: { machines: [...(spec?.metalSpec?.machines ?? []), { address: "10.0.0.9" }] } },
      })),
    }),
    member: () => ({ record: withOnly(straying({ memberId: "0000000000000001" })) }),
    uuid: () => ({ record: withOnly(straying({ uuid: "another" })) }),
    ...lastRows<"RemoveStray">(everywhere, () => ({ record: withOnly({ ...straying(), what: "RemoveMember" }) })),
  },
  also: {
    "an intent that is gone": () => ({ record: withOnly() }),
    "a machine made by hand meanwhile": () => ({
      stored: storedAs<KubeObject & { readonly items: readonly object[] }>("TalosMachineList", ({ items }) => ({
        items: [...items, { metadata: { name: "by-hand" }, spec: { endpoint: "10.0.0.9", controlPlaneRef: { name: "demo" } } }],
      })),
    }),
    "a control plane that goes": () => ({
      stored: storedAs("TalosControlPlane", ({ metadata }) => ({ metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } })),
    }),
  },
});

test("a learner of nobody's is removed while it is what keeps etcd from being settled", async () => {
  const action: Action = { kind: "RemoveStray", ...target("10.0.0.1"), memberId: STRAY };
  const sent = await world.send(action, seen, withOnly(straying()), { lies: [strange({ isLearner: true })] });
  assert.deepEqual(sent, ["EtcdRemoveMemberByID 10.0.0.1"]);
});

for (const [kind, sent] of [
  ["NOSPACE", ["EtcdRemoveMemberByID 10.0.0.1"]],
  ["CORRUPT", []],
] as const)
  test(`a member of nobody's is ${sent.length === 0 ? "not " : ""}removed beneath an alarm ${kind}`, async () => {
    const action: Action = { kind: "RemoveStray", ...target("10.0.0.1"), memberId: STRAY };
    assert.deepEqual(await world.send(action, seen, withOnly(straying()), { lies: [strange(), alarmed(kind)] }), sent);
  });

/** The same pool with something that needs no boot in it. */
function changed(
  address: "10.0.1.1" | "10.0.0.2",
  patch: Readonly<Record<string, unknown>>,
): { readonly seen: Observed; readonly settings: string } {
  const withPatch = <T extends TalosControlPlane | TalosWorker>(pool: T): T => {
    const next = structuredClone(pool) as T & { spec: { metalSpec: { machineSpec?: object } } };
    next.spec.metalSpec.machineSpec = { ...next.spec.metalSpec.machineSpec, configPatches: [patch] };
    return next;
  };
  const controlPlane = address === "10.0.0.2" ? withPatch(seen.controlPlane) : seen.controlPlane;
  const workers = address === "10.0.1.1" ? seen.workers.map(withPatch) : seen.workers;
  const declared = [controlPlane, ...workers].flatMap((pool) => machinesOf(pool));
  const machines = declared.map((machine) => ({ declared: machine, look: running() }));
  const other = { ...seen, controlPlane, workers, machines };
  const machine = machines.find((one) => one.declared.address === address);
  const question = machine === undefined ? undefined : configQuestion(machine, machines, controlPlane, known);
  assert.ok(question !== undefined);
  return { seen: other, settings: question.settings };
}

const label = { machine: { nodeLabels: { "example.org/rack": "r1" } } };
const needsBoot = { machine: { env: { NO_PROXY: "example.org" } } };
const activeOf = (address: string): string =>
  createHash("sha256")
    .update(world.story.datacenter.machine(address).state.config.active ?? "")
    .digest("hex");

const apply = (
  address: "10.0.1.1" | "10.0.0.2",
  over: Partial<ActionOf<"ApplyConfig">> = {},
  patch: Readonly<Record<string, unknown>> = label,
): ActionOf<"ApplyConfig"> => ({
  kind: "ApplyConfig",
  ...target(address),
  mode: "try",
  settings: changed(address, patch).settings,
  ifActiveHash: activeOf(address),
  ...over,
});
const applying = (address: "10.0.1.1" | "10.0.0.2", over: Partial<IntentFact> = {}): IntentFact =>
  open("ApplyConfig", address, { configHash: changed(address, label).settings, applyMode: "try", ...over });

play("ApplyConfig", everywhere, {
  action: () => apply("10.0.0.2"),
  before: () => withOnly(applying("10.0.0.2")),
  seen: () => changed("10.0.0.2", label).seen,
  sends: "ApplyConfiguration 10.0.0.2",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    declaredSettings: () => ({ seen: changed("10.0.0.2", { machine: { nodeLabels: { "example.org/rack": "r2" } } }).seen }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.2")(withOnly(applying("10.0.0.2"))(facts)) }),
    seenConfig: () => ({ action: apply("10.0.0.2", { ifActiveHash: "another" }) }),
    fittingMode: () => {
      const { seen: other, settings } = changed("10.0.0.2", needsBoot);
      return {
        seen: other,
        action: apply("10.0.0.2", { settings }),
        before: withOnly(applying("10.0.0.2", { configHash: settings })),
      };
    },
    hazards: () => {
      const { seen: other, settings } = changed("10.0.0.2", {
        apiVersion: "v1alpha1",
        kind: "NetworkDefaultActionConfig",
        ingress: "block",
      });
      return { seen: other, action: apply("10.0.0.2", { settings }), before: withOnly(applying("10.0.0.2", { configHash: settings })) };
    },
    ownMember: () => untoldMember("10.0.0.2"),
    ...quorumRows<"ApplyConfig">("10.0.0.1", "10.0.0.3"),
    // One of two voters is not spared, either.
    settled: () => ({ lies: [learning("10.0.0.3")], beside: ["quorum"] }),
    settings: () => ({ record: withOnly(applying("10.0.0.2", { configHash: "another" })) }),
    mode: () => ({ record: withOnly(applying("10.0.0.2", { applyMode: "staged" })) }),
    uuid: () => ({ record: withOnly(applying("10.0.0.2", { uuid: "another" })) }),
    // The pass took so long that the trial would outlast its intent.
    inTime: () => ({ before: withOnly(applying("10.0.0.2", longAgo())) }),
    ...lastRows<"ApplyConfig">(everywhere, () => ({ record: withOnly({ ...applying("10.0.0.2"), what: "Reboot" }) })),
  },
  also: {
    "another machine at the address": () => ({ moved: ["10.0.0.2", "10.0.1.1"] }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "a change of a worker that needs a boot": () => {
      const { seen: other, settings } = changed("10.0.1.1", needsBoot);
      return {
        seen: other,
        action: apply("10.0.1.1", { settings }),
        before: withOnly(applying("10.0.1.1", { configHash: settings })),
      };
    },
  },
});

const keep = (over: Partial<ActionOf<"KeepConfig">> = {}): ActionOf<"KeepConfig"> => ({
  kind: "KeepConfig",
  ...target("10.0.1.1"),
  settings: fact("10.0.1.1").configHash ?? "",
  ifActiveHash: activeOf("10.0.1.1"),
  ...over,
});
const keeping = (over: Partial<IntentFact> = {}): IntentFact =>
  applying("10.0.1.1", { configHash: fact("10.0.1.1").configHash ?? "", ...over });

play("KeepConfig", everywhere, {
  action: () => keep(),
  before: () => withOnly(keeping()),
  seen: () => seen,
  sends: "ApplyConfiguration 10.0.1.1",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    // The machine does not run what is wanted by now, either.
    declaredSettings: () => ({ seen: changed("10.0.1.1", label).seen, beside: ["wantedConfig"] }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.1.1")(withOnly(keeping())(facts)) }),
    seenConfig: () => ({ action: keep({ ifActiveHash: "another" }) }),
    wantedConfig: () => {
      const { seen: other, settings } = changed("10.0.1.1", label);
      return { seen: other, action: keep({ settings }), before: withOnly(keeping({ configHash: settings })) };
    },
    settings: () => ({ record: withOnly(keeping({ configHash: "another" })) }),
    trial: () => ({ record: withOnly(keeping({ applyMode: "no-reboot" })) }),
    uuid: () => ({ record: withOnly(keeping({ uuid: "another" })) }),
    ...lastRows<"KeepConfig">(everywhere, () => ({ record: withOnly() })),
  },
});

const bootId = (address: string): string => world.story.datacenter.machine(address).state.bootId;
const reboot = (over: Partial<ActionOf<"RebootMachine">> = {}): ActionOf<"RebootMachine"> => ({
  kind: "RebootMachine",
  ...target("10.0.0.2"),
  role: "controlplane",
  ifBootId: bootId("10.0.0.2"),
  ...over,
});
const rebooting = (over: Partial<IntentFact> = {}): IntentFact => open("Reboot", "10.0.0.2", { bootIdBefore: bootId("10.0.0.2"), ...over });

play("RebootMachine", everywhere, {
  action: () => reboot(),
  before: () => withOnly(rebooting()),
  seen: () => seen,
  sends: "Reboot 10.0.0.2",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({
      action: reboot({ ...target("10.0.1.1"), role: "worker", ifBootId: bootId("10.0.1.1") }),
      before: (facts) => cloned("10.0.1.1")(withOnly(open("Reboot", "10.0.1.1", { bootIdBefore: bootId("10.0.1.1") }))(facts)),
      sends: "Reboot 10.0.1.1",
    }),
    sameBoot: () => ({
      action: reboot({ ifBootId: "before" }),
      before: withOnly(rebooting({ bootIdBefore: "before" })),
    }),
    ownMember: () => untoldMember("10.0.0.2"),
    ...quorumRows<"RebootMachine">("10.0.0.1", "10.0.0.3"),
    // One of two voters is not spared, either.
    settled: () => ({ lies: [learning("10.0.0.3")], beside: ["quorum"] }),
    boot: () => ({ record: withOnly(rebooting({ bootIdBefore: "another" })) }),
    uuid: () => ({ record: withOnly(rebooting({ uuid: "another" })) }),
    ...lastRows<"RebootMachine">(everywhere, () => ({ record: withOnly({ ...rebooting(), what: "Reset" }) })),
  },
  also: {
    "an intent that is gone": () => ({ record: withOnly() }),
    "an etcd that is full, for other settings": () => ({ lies: [alarmed("NOSPACE")] }),
    "data that differ, for a larger quota": () => ({ action: reboot({ isForSpace: true }), lies: [alarmed("CORRUPT")] }),
  },
});

/** Every member tells of this alarm, and has a file of so many bytes. */
const alarmed = (kind: "NOSPACE" | "CORRUPT", dbSize = 20_480): Lie => ({
  method: "EtcdStatus",
  tell: (reply: { readonly messages: readonly { readonly memberStatus?: { errors: string[]; dbSize: bigint } }[] }) => {
    for (const { memberStatus } of reply.messages)
      if (memberStatus !== undefined)
        Object.assign(memberStatus, {
          errors: [`memberID:${BigInt(`0x${fact("10.0.0.2").memberId ?? ""}`)} alarm:${kind} `],
          dbSize: BigInt(dbSize),
        });
    return reply;
  },
});
const defragment = (over: Partial<ActionOf<"DefragmentMember">> = {}): ActionOf<"DefragmentMember"> => ({
  kind: "DefragmentMember",
  ...target("10.0.0.2"),
  ifLarger: 1,
  mayLead: false,
  ...over,
});
const defragmenting = (over: Partial<IntentFact> = {}): IntentFact => open("Defragment", "10.0.0.2", { dbSizeBytes: 2, ...over });
const followed = (row: Row<"DefragmentMember">): Row<"DefragmentMember"> => ({ ...row, lies: [led("10.0.0.1"), ...(row.lies ?? [])] });

play("DefragmentMember", everywhere, {
  action: () => defragment(),
  before: () => withOnly(defragmenting()),
  seen: () => seen,
  // Rows before took leaders off the network.
  always: () => ({ lies: [led("10.0.0.1")] }),
  sends: "EtcdDefragment 10.0.0.2",
  remembers: "refused",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.2")(withOnly(defragmenting())(facts)) }),
    ownMember: () => followed(untoldMember("10.0.0.2")),
    agreement: () => followed({ lies: [differing("10.0.0.1")] }),
    // One of two voters is not spared, either.
    settled: () => followed({ lies: [learning("10.0.0.3")], beside: ["quorum"] }),
    quorum: () => ({ cut: ["10.0.0.1"] }),
    stillLarge: () => ({ action: defragment({ ifLarger: 1_000_000_000 }) }),
    leaderLast: () => ({ lies: [led("10.0.0.2")] }),
    uuid: () => ({ record: withOnly(defragmenting({ uuid: "another" })) }),
    ...lastRows<"DefragmentMember">(everywhere, () => ({ record: withOnly({ ...defragmenting(), what: "Reset" }) })),
  },
  also: {
    "an intent that is gone": () => ({ record: withOnly() }),
    "data that differ": () => ({ lies: [alarmed("CORRUPT")] }),
  },
});

const disarming = (over: Partial<IntentFact> = {}): IntentFact => open("DisarmAlarms", "10.0.0.2", over);
const full = (row: Row<"DisarmAlarms">): Row<"DisarmAlarms"> => ({ ...row, lies: [alarmed("NOSPACE"), ...(row.lies ?? [])] });

play("DisarmAlarms", everywhere, {
  action: () => ({ kind: "DisarmAlarms", ...target("10.0.0.2") }),
  before: () => withOnly(disarming()),
  seen: () => seen,
  always: () => ({ lies: [alarmed("NOSPACE")] }),
  sends: "EtcdAlarmDisarm 10.0.0.2",
  remembers: "refused",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.2")(withOnly(disarming())(facts)) }),
    // Whose member is not told is not told to be healthy.
    ownMember: () => full({ ...untoldMember("10.0.0.2"), beside: ["hasRoom"] }),
    onlyFull: () => ({ lies: [alarmed("CORRUPT")] }),
    hasRoom: () => ({ lies: [alarmed("NOSPACE", 2_147_483_648)] }),
    uuid: () => ({ record: withOnly(disarming({ uuid: "another" })) }),
    ...lastRows<"DisarmAlarms">(everywhere, () => ({ record: withOnly({ ...disarming(), what: "Reset" }) })),
  },
  also: {
    "an intent that is gone": () => ({ record: withOnly() }),
    "no alarm at all": () => ({ lies: [] }),
  },
});

/** Every member tells that the data of this one are not those of the others, and that 10.0.0.3 leads. @param others who it is as well */
const wrongAt = (address: string, ...others: readonly string[]): Lie => ({
  method: "EtcdStatus",
  tell: (reply: { readonly messages: readonly { readonly memberStatus?: { errors: string[]; leader: bigint } }[] }) => {
    for (const { memberStatus } of reply.messages)
      if (memberStatus !== undefined) memberStatus.leader = BigInt(`0x${memberOf("10.0.0.3")}`);
    for (const { memberStatus } of reply.messages)
      if (memberStatus !== undefined)
        memberStatus.errors = [address, ...others].map((one) => `memberID:${BigInt(`0x${fact(one).memberId ?? ""}`)} alarm:CORRUPT `);
    return reply;
  },
});
const memberOf = (address: string): string => fact(address).memberId ?? "";
const replacing = (over: Partial<IntentFact> = {}): IntentFact =>
  open("ReplaceMember", "10.0.0.2", { memberId: memberOf("10.0.0.2"), ...over });

play("ReplaceMember", everywhere, {
  action: () => ({ kind: "ReplaceMember", ...target("10.0.0.2"), memberId: memberOf("10.0.0.2") }),
  before: () => withOnly(replacing()),
  seen: () => seen,
  always: () => ({ lies: [wrongAt("10.0.0.2")] }),
  sends: "EtcdLeaveCluster 10.0.0.2",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.2")(withOnly(replacing())(facts)) }),
    // Who does not tell its member does not show the one that is meant, either.
    ownMember: () => ({ lies: [wrongAt("10.0.0.2"), untold("EtcdMembers.etcd.talos.dev", 7, "10.0.0.2")], beside: ["sameMember"] }),
    agreement: () => ({ lies: [wrongAt("10.0.0.2"), differing("10.0.0.1")], beside: ["wrongData"] }),
    settled: () => ({ lies: [wrongAt("10.0.0.2"), learning("10.0.0.1")], beside: ["wrongData"] }),
    quorum: () => ({ cut: ["10.0.0.1"], beside: ["wrongData", "agreement"] }),
    wrongData: () => ({ lies: [] }),
    sameMember: () => ({
      action: { kind: "ReplaceMember", ...target("10.0.0.1"), memberId: memberOf("10.0.0.2") },
      before: withOnly({ ...open("ReplaceMember", "10.0.0.1"), memberId: memberOf("10.0.0.2") }),
      sends: "EtcdLeaveCluster 10.0.0.1",
    }),
    member: () => ({ record: withOnly(replacing({ memberId: "0000000000000001" })) }),
    uuid: () => ({ record: withOnly(replacing({ uuid: "another" })) }),
    ...lastRows<"ReplaceMember">(everywhere, () => ({ record: withOnly({ ...replacing(), what: "Reset" }) })),
  },
  also: {
    "an intent that is gone": () => ({ record: withOnly() }),
    "an alarm that names another one": () => ({ lies: [wrongAt("10.0.0.1")] }),
    "two of three that are named": () => ({ lies: [wrongAt("10.0.0.2", "10.0.0.1")] }),
    "one of two": () => ({ lies: [wrongAt("10.0.0.2"), onlyOf("10.0.0.1", "10.0.0.2")], cut: ["10.0.0.3"] }),
    "an alarm that names nobody": () => ({
      lies: [
        {
          method: "EtcdStatus",
          tell: (reply: { readonly messages: readonly { readonly memberStatus?: { errors: string[] } }[] }) => {
            for (const { memberStatus } of reply.messages) if (memberStatus !== undefined) memberStatus.errors = ["alarm:CORRUPT "];
            return reply;
          },
        },
      ],
    }),
  },
});

/** The others list the members of these alone, and tell of the alarm of one that is gone; the machine's own etcd has stopped. */
const leftBehind = (): readonly Lie[] => [wrongAt("10.0.0.2"), onlyOf("10.0.0.1", "10.0.0.3"), ...stoppedAt("10.0.0.2")];
/** etcd on the machine has stopped, and shows no member. @param hasData its folder holds something */
function stoppedAt(address: string, hasData = false): readonly Lie[] {
  return [
    {
      method: "ServiceList",
      address,
      tell: (reply: {
        readonly messages: readonly { readonly services: readonly { readonly id: string; state: string; health?: unknown }[] }[];
      }) => {
        for (const { services } of reply.messages) for (const service of services) if (service.id === "etcd") service.state = "Finished";
        return reply;
      },
    },
    { ...untold("EtcdMembers.etcd.talos.dev", 5, address) },
    {
      method: "List",
      address,
      tell: (told: readonly { readonly relativeName?: string }[]) =>
        hasData ? told : told.filter(({ relativeName }) => relativeName === "."),
    },
  ];
}

play("RejoinEtcd", everywhere, {
  action: () => ({ kind: "RejoinEtcd", ...target("10.0.0.2") }),
  before: () => withOnly(replacing()),
  seen: () => seen,
  always: () => ({ lies: leftBehind() }),
  sends: "Reboot 10.0.0.2",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    sameMachine: () => ({ before: (facts) => cloned("10.0.0.2")(withOnly(replacing())(facts)) }),
    membersKnown: () => ({ cut: ["10.0.0.1", "10.0.0.3"] }),
    hasLeft: () => ({ lies: [wrongAt("10.0.0.2"), ...stoppedAt("10.0.0.2")] }),
    emptied: () => ({ lies: [wrongAt("10.0.0.2"), onlyOf("10.0.0.1", "10.0.0.3"), ...stoppedAt("10.0.0.2", true)] }),
    uuid: () => ({ record: withOnly(replacing({ uuid: "another" })) }),
    ...lastRows<"RejoinEtcd">(everywhere, () => ({ record: withOnly({ ...replacing(), what: "Reset" }) })),
  },
  also: {
    "an intent that is gone": () => ({ record: withOnly() }),
    "an etcd that runs": () => ({ lies: [wrongAt("10.0.0.2"), onlyOf("10.0.0.1", "10.0.0.3")] }),
  },
});

const meta = (over: Partial<ActionOf<"WriteMeta">> = {}): ActionOf<"WriteMeta"> => ({
  kind: "WriteMeta",
  ...target("10.0.0.2"),
  role: "controlplane",
  settings: "none",
  ifLive: "none",
  ...over,
});
const writing = (over: Partial<IntentFact> = {}): IntentFact => open("WriteMeta", "10.0.0.2", { configHash: "none", ...over });

play("WriteMeta", everywhere, {
  action: () => meta(),
  before: () => withOnly(writing()),
  seen: () => seen,
  sends: "MetaDelete 10.0.0.2",
  heldBackBy: {
    unpaused: () => ({ stored: pausedMachine }),
    declaredSettings: () => ({
      action: meta({ settings: "another" }),
      before: withOnly(writing({ configHash: "another" })),
    }),
    sameMachine: () => ({
      action: meta({ ...target("10.0.1.1"), role: "worker" }),
      before: (facts) => cloned("10.0.1.1")(withOnly(open("WriteMeta", "10.0.1.1", { configHash: "none" }))(facts)),
      sends: "MetaDelete 10.0.1.1",
    }),
    seenMeta: () => ({ action: meta({ ifLive: "another" }) }),
    ownMember: () => untoldMember("10.0.0.2"),
    ...quorumRows<"WriteMeta">("10.0.0.1", "10.0.0.3"),
    // One of two voters is not spared, either.
    settled: () => ({ lies: [learning("10.0.0.3")], beside: ["quorum"] }),
    settings: () => ({ record: withOnly(writing({ configHash: "another" })) }),
    uuid: () => ({ record: withOnly(writing({ uuid: "another" })) }),
    // The pass took so long that the settings would arrive after their intent is over.
    inTime: () => ({ before: withOnly(writing(longAgo())) }),
    ...lastRows<"WriteMeta">(everywhere, () => ({ record: withOnly() })),
  },
});

describe("of two members of etcd", () => {
  const two = (): Meanwhile => ({ lies: [onlyOf("10.0.0.1", "10.0.0.3")], cut: ["10.0.0.2"] });

  test("the one that leads hands over before it leaves, for the other is a quorum without it", async () => {
    const action: Action = { kind: "ForfeitLeadership", ...target("10.0.0.1") };
    assert.deepEqual(await world.send(action, seen, withOnly(open("Reset", "10.0.0.1")), two()), ["EtcdForfeitLeadership 10.0.0.1"]);
  });

  test("none is booted, for the other is no quorum while it is down", async () => {
    const intent = open("Reboot", "10.0.0.1", { bootIdBefore: bootId("10.0.0.1") });
    const action = reboot({ ...target("10.0.0.1"), ifBootId: bootId("10.0.0.1") });
    assert.deepEqual(await world.send(action, seen, withOnly(intent)), ["Reboot 10.0.0.1"]);
    assert.deepEqual(await world.send(action, seen, withOnly(intent), two()), []);
  });

  test("the one that leads by now is not wiped before it has handed over", async () => {
    const pair = onlyOf("10.0.0.1", "10.0.0.3");
    const before = withOnly(open("Reset", "10.0.0.3"));
    assert.deepEqual(await world.send(reset(), seen, before, { lies: [pair], cut: ["10.0.0.2"] }), ["Reset 10.0.0.3"]);
    assert.deepEqual(await world.send(reset(), seen, before, { lies: [pair, led("10.0.0.3")], cut: ["10.0.0.2"] }), []);
  });
});
