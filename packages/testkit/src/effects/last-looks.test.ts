import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { configQuestion, machinesOf, running } from "@talos-operator/operator/testing";
import type { Action, ClusterFacts, DecidedPass, IntentFact, Observed } from "@talos-operator/operator/testing";
import { kinds } from "../stories/story.ts";
import { createEffectWorld } from "./effect-world.ts";
import type { EffectWorld, Lie, Meanwhile } from "./effect-world.ts";

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

/** The last member of the list does not vote yet. */
const learning: Lie = {
  method: "EtcdMemberList",
  tell: (reply: { readonly messages: readonly { readonly members: readonly { isLearner: boolean; readonly id: bigint }[] }[] }) => {
    for (const { members } of reply.messages)
      for (const member of members) member.isLearner = member.id === BigInt(`0x${fact("10.0.0.2").memberId ?? ""}`);
    return reply;
  },
};

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

/** One effect that is sent when nothing is in its way, and everything that must hold it back. */
interface Table {
  readonly action: () => Action;
  readonly before: () => (facts: ClusterFacts) => ClusterFacts;
  /** Part of what has to hold; for every row. */
  readonly always?: () => Meanwhile;
  readonly seen?: () => Observed;
  readonly sends: string;
  readonly heldBackBy: Readonly<
    Record<
      string,
      () => Meanwhile & { readonly action?: Action; readonly seen?: Observed; readonly before?: (facts: ClusterFacts) => ClusterFacts }
    >
  >;
}

function play(name: string, table: Table): void {
  describe(name, () => {
    test("is sent when nothing is in its way", async () => {
      const sent = await world.send(table.action(), table.seen?.() ?? seen, table.before(), table.always?.());
      assert.deepEqual(sent, [table.sends]);
    });
    for (const [what, row] of Object.entries(table.heldBackBy))
      test(`is held back by ${what}`, async () => {
        const { action = table.action(), seen: other, before: otherBefore, ...meanwhile } = row();
        const sent = await world.send(action, other ?? table.seen?.() ?? seen, otherBefore ?? table.before(), {
          ...table.always?.(),
          ...meanwhile,
        });
        assert.deepEqual(sent, []);
      });
    test("is not taken for refused when the machine refuses a question before it", async () => {
      const unimplemented = (): never => {
        throw Object.assign(new Error("unimplemented"), { name: "TalosCallFailure", code: 12 });
      };
      let told: DecidedPass | undefined;
      const sent = await world.send(table.action(), table.seen?.() ?? seen, table.before(), {
        ...table.always?.(),
        lies: [{ method: "Get", tell: unimplemented }],
        prepare: (pass) => void (told = pass),
      });
      assert.deepEqual(sent, []);
      const remembered = told?.effects.session.remembered();
      const outcomes = [...(remembered?.sent.values() ?? [])].map(({ outcome }) => outcome);
      const heldBack = [...(remembered?.notes?.values() ?? [])].flatMap((notes) => notes.heldBack ?? []);
      assert.deepEqual([...new Set(outcomes)], heldBack.length > 0 ? [] : ["unknown"]);
    });
    test("is sent again when all that is over", async () => {
      const sent = await world.send(table.action(), table.seen?.() ?? seen, table.before(), table.always?.());
      assert.deepEqual(sent, [table.sends]);
    });
  });
}

const reset = (over: Partial<Extract<Action, { readonly kind: "ResetMachine" }>> = {}): Action => ({
  kind: "ResetMachine",
  ...target("10.0.0.3"),
  isGraceful: true,
  leavesEtcd: true,
  ifUnlisted: "voter",
  ...over,
});

play("a wipe", {
  action: () => reset(),
  before: () => withOnly(open("Reset", "10.0.0.3")),
  sends: "Reset 10.0.0.3",
  heldBackBy: {
    "another machine at the address": () => ({ moved: ["10.0.0.3", "10.0.0.2"] }),
    "a clone at the address": () => ({ before: (facts) => cloned("10.0.0.3")(withOnly(open("Reset", "10.0.0.3"))(facts)) }),
    "a quorum that would be lost": () => ({ cut: ["10.0.0.2"] }),
    "members that do not agree": () => ({ lies: [differing("10.0.0.2")] }),
    "a member that is joining": () => ({ lies: [learning] }),
    "a machine that answers for another one": () => ({
      before: (facts) => ({
        ...withOnly(open("Reset", "10.0.0.3"))(facts),
        machines: facts.machines.map((one) => (one.address === "10.0.0.2" ? { ...one, uuid: "another" } : one)),
      }),
    }),
    "two machines that show one member": () => ({ moved: ["10.0.0.2", "10.0.0.1"] }),
    "a machine that does not tell its member": () => ({ lies: [untold("EtcdMembers.etcd.talos.dev", 7, "10.0.0.3")] }),
    "the leadership of etcd": () => ({ lies: [led("10.0.0.3")] }),
    "a vote that nobody counts on": () => ({ action: reset({ leavesEtcd: false, isGraceful: false, ifUnlisted: "no-voter" }) }),
    "etcd that cannot tell who votes": () => ({
      action: reset({ leavesEtcd: false, isGraceful: false, ifUnlisted: "no-voter" }),
      cut: ["10.0.0.1", "10.0.0.2"],
    }),
    "a member that is not told where no voter may be": () => ({
      action: reset({ leavesEtcd: false, isGraceful: false, ifUnlisted: "no-voter" }),
      lies: [untold("EtcdMembers.etcd.talos.dev", 7, "10.0.0.3")],
    }),
    "etcd where there should be none": () => ({ action: reset({ leavesEtcd: false, isGraceful: false, ifUnlisted: "no-etcd" }) }),
    "a spec that lists it": () => ({
      action: { ...reset(), ...target("10.0.0.2") } as Action,
      before: withOnly(open("Reset", "10.0.0.2")),
    }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent of another kind": () => ({ record: withOnly(open("Reboot", "10.0.0.3")) }),
    "an intent on another machine": () => ({
      record: withOnly({ ...open("Reset", "10.0.0.2"), address: "10.0.0.3", uuid: fact("10.0.0.3").uuid }),
    }),
    "an intent for another address": () => ({ record: withOnly(open("Reset", "10.0.0.3", { address: "10.0.0.9" })) }),
    "an intent for another UUID": () => ({ record: withOnly(open("Reset", "10.0.0.3", { uuid: "another" })) }),
  },
});

/** The worker pool, as it is stored by then. */
const pool =
  (over: (pool: TalosWorker) => object): NonNullable<Meanwhile["stored"]> =>
  (object) =>
    object.kind === "TalosWorker" ? { ...object, ...over(object as TalosWorker) } : object;
const goingPool = (over: Partial<TalosWorker["metadata"]> = {}): NonNullable<Meanwhile["stored"]> =>
  pool(({ metadata }) => ({ metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z", ...over } }));

play("a wipe of a worker whose pool goes", {
  action: () => ({ kind: "ResetMachine", ...target("10.0.1.1") }),
  before: () => withOnly(open("Reset", "10.0.1.1")),
  always: () => ({ stored: goingPool() }),
  sends: "Reset 10.0.1.1",
  heldBackBy: {
    "a pool that stays": () => ({ stored: pool(() => ({})) }),
    "a pool that was made anew": () => ({ stored: goingPool({ uid: "another" }) }),
    "a pool that is to leave its machines as they are by now": () => ({
      stored: pool(({ metadata, spec }) => ({
        metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
        spec: { ...spec, deletionPolicy: "preserve" },
      })),
    }),
    "a pool that is paused by now": () => ({ stored: goingPool({ annotations: { "talos.alperen.cloud/reconcile-mode": "disable" } }) }),
    "a control plane that was made anew": () => ({
      stored: (object) => {
        const going = goingPool()(object);
        return going.kind === "TalosControlPlane" ? { ...going, metadata: { ...going.metadata, uid: "another" } } : going;
      },
    }),
    "another machine at the address": () => ({ moved: ["10.0.1.1", "10.0.0.2"] }),
    "a clone at the address": () => ({ before: (facts) => cloned("10.0.1.1")(withOnly(open("Reset", "10.0.1.1"))(facts)) }),
  },
});

play("a handover of the leadership", {
  action: () => ({ kind: "ForfeitLeadership", ...target("10.0.0.1") }),
  before: () => withOnly(open("Reset", "10.0.0.1")),
  sends: "EtcdForfeitLeadership 10.0.0.1",
  heldBackBy: {
    "another machine at the address": () => ({ moved: ["10.0.0.1", "10.0.0.2"] }),
    "a clone at the address": () => ({ before: (facts) => cloned("10.0.0.1")(withOnly(open("Reset", "10.0.0.1"))(facts)) }),
    "a quorum that would be lost": () => ({ cut: ["10.0.0.2"] }),
    "another leader": () => ({ lies: [led("10.0.0.2")] }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent of another kind": () => ({ record: withOnly(open("Reboot", "10.0.0.1")) }),
    "an intent on another machine": () => ({ record: withOnly({ ...open("Reset", "10.0.0.2"), uuid: fact("10.0.0.1").uuid }) }),
    "an intent for another UUID": () => ({ record: withOnly(open("Reset", "10.0.0.1", { uuid: "another" })) }),
  },
});

play("the leave of a container", {
  action: () => ({ kind: "LeaveEtcd", ...target("10.0.0.3") }),
  before: () => withOnly(open("Reset", "10.0.0.3")),
  sends: "EtcdLeaveCluster 10.0.0.3",
  heldBackBy: {
    "another machine at the address": () => ({ moved: ["10.0.0.3", "10.0.0.2"] }),
    "a quorum that would be lost": () => ({ cut: ["10.0.0.2"] }),
    "the leadership of etcd": () => ({ lies: [led("10.0.0.3")] }),
    "a spec that lists it": () => ({
      action: { kind: "LeaveEtcd", ...target("10.0.0.2") },
      before: withOnly(open("Reset", "10.0.0.2")),
    }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent of another kind": () => ({ record: withOnly(open("Reboot", "10.0.0.3")) }),
    "an intent for another address": () => ({ record: withOnly(open("Reset", "10.0.0.3", { address: "10.0.0.9" })) }),
    "an intent for another UUID": () => ({ record: withOnly(open("Reset", "10.0.0.3", { uuid: "another" })) }),
  },
});

const removal = (over: Partial<Extract<Action, { readonly kind: "RemoveMember" }>> = {}): Action => ({
  kind: "RemoveMember",
  machine: fact("10.0.0.3").name,
  memberId: fact("10.0.0.3").memberId ?? "",
  via: target("10.0.0.1"),
  ...over,
});
const removing = (over: Partial<IntentFact> = {}): IntentFact =>
  open("RemoveMember", "10.0.0.3", { memberId: fact("10.0.0.3").memberId ?? "", ...over });

play("the removal of a member", {
  action: () => removal(),
  before: () => withOnly(removing()),
  always: () => ({ cut: ["10.0.0.3"] }),
  sends: "EtcdRemoveMemberByID 10.0.0.1",
  heldBackBy: {
    "another machine where it is asked for": () => ({ action: removal({ via: { ...target("10.0.0.1"), ifUuid: "another" } }) }),
    "a machine that answers and shows the member": () => ({ cut: [] }),
    "a quorum that would be lost": () => ({ cut: ["10.0.0.2", "10.0.0.3"] }),
    "members that do not agree": () => ({ lies: [differing("10.0.0.2")] }),
    "a spec that lists it": () => {
      const { name, memberId = "" } = fact("10.0.0.2");
      return {
        action: removal({ machine: name, memberId }),
        before: withOnly(open("RemoveMember", "10.0.0.2", { memberId })),
        cut: ["10.0.0.2"],
      };
    },
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent of another kind": () => ({ record: withOnly({ ...removing(), what: "Reset" }) }),
    "an intent on another machine": () => ({ record: withOnly(removing({ machine: fact("10.0.0.2").name })) }),
    "an intent for another member": () => ({ record: withOnly(removing({ memberId: "0000000000000001" })) }),
  },
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
  over: Partial<Extract<Action, { readonly kind: "ApplyConfig" }>> = {},
  patch: Readonly<Record<string, unknown>> = label,
): Action => ({
  kind: "ApplyConfig",
  ...target(address),
  mode: "try",
  settings: changed(address, patch).settings,
  ifActiveHash: activeOf(address),
  ...over,
});
const applying = (address: "10.0.1.1" | "10.0.0.2", over: Partial<IntentFact> = {}): IntentFact =>
  open("ApplyConfig", address, { configHash: changed(address, label).settings, applyMode: "try", ...over });

play("a configuration", {
  action: () => apply("10.0.1.1"),
  before: () => withOnly(applying("10.0.1.1")),
  seen: () => changed("10.0.1.1", label).seen,
  sends: "ApplyConfiguration 10.0.1.1",
  heldBackBy: {
    "another machine at the address": () => ({ moved: ["10.0.1.1", "10.0.0.2"] }),
    "a clone at the address": () => ({ before: (facts) => cloned("10.0.1.1")(withOnly(applying("10.0.1.1"))(facts)) }),
    "another configuration on the machine": () => ({ action: apply("10.0.1.1", { ifActiveHash: "another" }) }),
    "a change that needs a boot": () => {
      const { seen: other, settings } = changed("10.0.1.1", needsBoot);
      return {
        seen: other,
        action: apply("10.0.1.1", { settings }),
        before: withOnly(applying("10.0.1.1", { configHash: settings })),
      };
    },
    "settings that are other ones by now": () => ({
      seen: changed("10.0.1.1", { machine: { nodeLabels: { "example.org/rack": "r2" } } }).seen,
    }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent of another kind": () => ({ record: withOnly({ ...applying("10.0.1.1"), what: "Reboot" }) }),
    "an intent for other settings": () => ({ record: withOnly(applying("10.0.1.1", { configHash: "another" })) }),
    "an intent for another mode": () => ({ record: withOnly(applying("10.0.1.1", { applyMode: "staged" })) }),
    "a pass that took so long that the trial would outlast its intent": () => ({ before: withOnly(applying("10.0.1.1", longAgo())) }),
    "an intent for another UUID": () => ({ record: withOnly(applying("10.0.1.1", { uuid: "another" })) }),
  },
});

play("a configuration of a control plane", {
  action: () => apply("10.0.0.2"),
  before: () => withOnly(applying("10.0.0.2")),
  seen: () => changed("10.0.0.2", label).seen,
  sends: "ApplyConfiguration 10.0.0.2",
  heldBackBy: { "a quorum that would be lost": () => ({ cut: ["10.0.0.1"] }) },
});

const keep = (over: Partial<Extract<Action, { readonly kind: "KeepConfig" }>> = {}): Action => ({
  kind: "KeepConfig",
  ...target("10.0.1.1"),
  settings: fact("10.0.1.1").configHash ?? "",
  ifActiveHash: activeOf("10.0.1.1"),
  ...over,
});
const keeping = (over: Partial<IntentFact> = {}): IntentFact =>
  applying("10.0.1.1", { configHash: fact("10.0.1.1").configHash ?? "", ...over });

play("keeping a configuration that was tried", {
  action: () => keep(),
  before: () => withOnly(keeping()),
  sends: "ApplyConfiguration 10.0.1.1",
  heldBackBy: {
    "another configuration on the machine": () => ({ action: keep({ ifActiveHash: "another" }) }),
    "a configuration that is not the wanted one": () => {
      const { seen: other, settings } = changed("10.0.1.1", label);
      return { seen: other, action: keep({ settings }), before: withOnly(keeping({ configHash: settings })) };
    },
    "settings that are other ones by now": () => ({ seen: changed("10.0.1.1", label).seen }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent for other settings": () => ({ record: withOnly(keeping({ configHash: "another" })) }),
    "an intent for another mode": () => ({ record: withOnly(keeping({ applyMode: "no-reboot" })) }),
    "an intent for another UUID": () => ({ record: withOnly(keeping({ uuid: "another" })) }),
  },
});

const bootId = (address: string): string => world.story.datacenter.machine(address).state.bootId;
const reboot = (over: Partial<Extract<Action, { readonly kind: "RebootMachine" }>> = {}): Action => ({
  kind: "RebootMachine",
  ...target("10.0.0.2"),
  role: "controlplane",
  ifBootId: bootId("10.0.0.2"),
  ...over,
});
const rebooting = (over: Partial<IntentFact> = {}): IntentFact => open("Reboot", "10.0.0.2", { bootIdBefore: bootId("10.0.0.2"), ...over });

play("a boot", {
  action: () => reboot(),
  before: () => withOnly(rebooting()),
  sends: "Reboot 10.0.0.2",
  heldBackBy: {
    "a clone at the address": () => ({
      action: reboot({ ...target("10.0.1.1"), address: "10.0.1.1", role: "worker", ifBootId: bootId("10.0.1.1") }),
      before: (facts) => cloned("10.0.1.1")(withOnly(open("Reboot", "10.0.1.1", { bootIdBefore: bootId("10.0.1.1") }))(facts)),
    }),
    "a boot that it had meanwhile": () => ({
      action: reboot({ ifBootId: "before" }),
      before: withOnly(rebooting({ bootIdBefore: "before" })),
    }),
    "a quorum that would be lost": () => ({ cut: ["10.0.0.1"] }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent of another kind": () => ({ record: withOnly({ ...rebooting(), what: "Reset" }) }),
    "an intent for another boot": () => ({ record: withOnly(rebooting({ bootIdBefore: "another" })) }),
    "an intent for another UUID": () => ({ record: withOnly(rebooting({ uuid: "another" })) }),
  },
});

const meta = (over: Partial<Extract<Action, { readonly kind: "WriteMeta" }>> = {}): Action => ({
  kind: "WriteMeta",
  ...target("10.0.0.2"),
  role: "controlplane",
  settings: "none",
  ifLive: "none",
  ...over,
});
const writing = (over: Partial<IntentFact> = {}): IntentFact => open("WriteMeta", "10.0.0.2", { configHash: "none", ...over });

play("META", {
  action: () => meta(),
  before: () => withOnly(writing()),
  sends: "MetaDelete 10.0.0.2",
  heldBackBy: {
    "a clone at the address": () => ({
      action: meta({ ...target("10.0.1.1"), role: "worker" }),
      before: (facts) => cloned("10.0.1.1")(withOnly(open("WriteMeta", "10.0.1.1", { configHash: "none" }))(facts)),
    }),
    "settings that are other ones by now": () => ({
      action: meta({ settings: "another" }),
      before: withOnly(writing({ configHash: "another" })),
    }),
    "other settings on the machine": () => ({ action: meta({ ifLive: "another" }) }),
    "a pass that took so long that the settings would arrive after their intent is over": () => ({ before: withOnly(writing(longAgo())) }),
    "a quorum that would be lost": () => ({ cut: ["10.0.0.1"] }),
    "an intent that is gone": () => ({ record: withOnly() }),
    "an intent for other settings": () => ({ record: withOnly(writing({ configHash: "another" })) }),
    "an intent for another UUID": () => ({ record: withOnly(writing({ uuid: "another" })) }),
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
