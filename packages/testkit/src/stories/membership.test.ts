import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition, TalosCluster, TalosWorker } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { TalosDialer } from "@talos-operator/ports";
import { realisticTimings } from "@talos-operator/simulator";
import { withUnary } from "../world/with-calls.ts";
import { assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const machines = at(1, 2, 3, 4, 5, 6, 7, 8).map((address) => ({ address }));

async function ready(world: Story, controlPlanes: readonly string[], workers: readonly string[] = []): Promise<void> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(controlPlanes, workers));
  await world.start();
  await world.untilReady();
}

function list(world: Story, pool: "controlPlane" | "worker", addresses: readonly string[], over: object = {}): Promise<unknown> {
  const spec = { [pool]: { ...over, metalSpec: { machines: addresses.map((address) => ({ address })) } } };
  return world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

/** Addresses of etcd's voters, sorted; fails when there is more than one etcd. */
function voters(world: Story): readonly string[] {
  const [etcd, ...more] = world.datacenter.etcdClusters();
  assert.deepEqual(more, []);
  return (etcd?.members ?? [])
    .filter(({ isLearner }) => !isLearner)
    .map(({ peerUrl }) => new URL(peerUrl).hostname)
    .toSorted();
}

/** Until the list is what etcd has, nothing is on its way out, and the cluster is ready. */
async function settled(world: Story, controlPlanes: readonly string[], seconds = 900): Promise<void> {
  await world.until(
    `voters are ${controlPlanes.join(", ")}`,
    async () =>
      voters(world).join() === controlPlanes.toSorted().join() &&
      (await world.condition(kinds.controlPlane, "Removing")) === undefined &&
      (await world.condition(kinds.cluster, "Ready"))?.status === "True",
    seconds,
  );
}

/** Addresses that were wiped, in order. */
const resets = (world: Story): readonly string[] => world.effects.flatMap((effect) => /^Reset (.*)$/.exec(effect)?.[1] ?? []);

const removals = (world: Story): readonly string[] => world.effects.filter((effect) => effect.startsWith("EtcdRemoveMemberByID"));

const removing = (world: Story): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "Removing");

/** Names of the TalosMachines. */
async function objects(world: Story): Promise<readonly string[]> {
  return (await world.client.resource(kinds.machine).list()).items.map((item) => item.metadata?.name ?? "").toSorted();
}

const options = { machines };

test("all control planes are replaced in one edit: those that leave are etcd until the others have joined, and it is told so", () =>
  tell({ machines, timings: realisticTimings }, async (world) => {
    await ready(world, at(1, 2, 3));
    for (const address of at(4, 5, 6)) world.datacenter.machine(address).powerOff();
    await list(world, "controlPlane", at(4, 5, 6));
    await world.time.advance(60_000);
    const told = await world.condition(kinds.controlPlane, "EtcdHealthy");
    assert.equal(told?.reason, "MemberMissing");
    assert.match(
      told.message,
      /served by 3 members that will leave when others have joined: demo-10\.5\.0\.1, demo-10\.5\.0\.2, demo-10\.5\.0\.3/,
    );
    for (const address of at(4, 5, 6)) world.datacenter.machine(address).powerOn();
    await settled(world, at(4, 5, 6));
  }));

for (const [pace, timings] of [
  ["at once", undefined],
  ["at the pace of genuine machines", realisticTimings],
] as const)
  test(`a cluster grows from one control plane to five and shrinks to one again, one at a time, and never without quorum; machines act ${pace}`, () =>
    tell({ machines, ...(timings === undefined ? {} : { timings }) }, async (world) => {
      await ready(world, at(1));
      const guard = watchQuorum(world);
      for (const size of [3, 5, 3, 1]) {
        const addresses = at(1, 2, 3, 4, 5).slice(0, size);
        await list(world, "controlPlane", addresses);
        await settled(world, addresses);
      }
      guard.end();
      assert.deepEqual(resets(world).toSorted(), at(2, 3, 4, 5));
      for (const machine of world.datacenter.machines()) {
        const isOurs = machine.address === "10.5.0.1";
        assert.equal(machine.state.stage, isOurs ? "running" : "maintenance", machine.address);
      }
      assert.deepEqual(await objects(world), ["demo-10.5.0.1"]);
      // Events are posted at a measured pace.
      await world.time.advance(120_000);
      await assertQuiet(world);
    }));

test("five control planes shrink to one in one edit, one by one", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3, 4, 5));
    const guard = watchQuorum(world);
    await list(world, "controlPlane", at(4));
    await settled(world, at(4));
    guard.end();
    assert.deepEqual(resets(world).toSorted(), at(1, 2, 3, 5));
  }));

test("all three control planes are replaced in one edit: each new one joins before an old one leaves, and the leader leaves last", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3));
    const guard = watchQuorum(world);
    let fewest = 3;
    const count = (): void => {
      fewest = Math.min(fewest, voters(world).length);
      world.time.timers.schedule(50, count);
    };
    count();
    const founder = world.datacenter.etcdClusters()[0]?.leader;
    await list(world, "controlPlane", at(4, 5, 6));
    await settled(world, at(4, 5, 6));
    guard.end();
    assert.equal(fewest, 3);
    assert.equal(resets(world).length, 3);
    assert.equal(founder === undefined, false);
    assert.equal(resets(world).at(-1), "10.5.0.1", "the leader goes last");
    assert.equal(world.effects.filter((effect) => effect.startsWith("EtcdForfeitLeadership")).length, 1);
    assert.equal(world.effects.filter((effect) => effect.startsWith("ApplyConfiguration")).length, 6);
    assert.deepEqual(
      await objects(world),
      at(4, 5, 6).map((address) => `demo-${address}`),
    );
  }));

test("the only control plane is replaced by another one, which joins first and leads when the old one leaves", () =>
  tell(options, async (world) => {
    await ready(world, at(1));
    await list(world, "controlPlane", at(2));
    await settled(world, at(2));
    assert.deepEqual(resets(world), at(1));
  }));

test("a replacement that does not answer keeps the old control plane, by name", () =>
  tell(options, async (world) => {
    world.datacenter.machine("10.5.0.4").powerOff();
    await ready(world, at(1, 2, 3));
    await list(world, "controlPlane", at(1, 2, 4));
    await world.until("waits", async () =>
      /demo-10\.5\.0\.3 leaves after .*demo-10\.5\.0\.4 \(no answer in time\)/.test((await removing(world))?.message ?? ""),
    );
    assert.equal((await removing(world))?.reason, "WaitingForReplacement");
    assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "False");
    await world.time.advance(60_000);
    await assertQuiet(world);
    assert.deepEqual(resets(world), []);
    world.datacenter.machine("10.5.0.4").powerOn();
    await settled(world, at(1, 2, 4));
    assert.deepEqual(resets(world), at(3));
  }));

test("a dead control plane is taken off the list: its member is removed, its replacement joins, and it is wiped when it comes back", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3));
    const dead = world.datacenter.machine("10.5.0.2");
    dead.powerOff();
    await world.until("missed", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "False");
    await world.time.advance(30_000);
    const guard = watchQuorum(world);
    await list(world, "controlPlane", at(1, 3, 4));
    await world.until("replaced", async () => voters(world).join() === at(1, 3, 4).join());
    await world.until("ready without it", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "True");
    assert.equal(removals(world).length, 1);
    assert.deepEqual(resets(world), []);
    // It was not wiped: its object stays, with a way out.
    assert.ok((await objects(world)).includes("demo-10.5.0.2"));
    assert.equal((await removing(world))?.reason, "MachineUnreachable");
    assert.match((await removing(world))?.message ?? "", /abandon-machine: /);
    await world.time.advance(60_000);
    await assertQuiet(world);
    dead.powerOn();
    await settled(world, at(1, 3, 4));
    guard.end();
    assert.deepEqual(resets(world), at(2));
    assert.equal(removals(world).length, 1);
    assert.equal(dead.state.stage, "maintenance");
  }));

test("a dead control plane that a person gives up is released, and the word acts once", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3));
    const dead = world.datacenter.machine("10.5.0.2");
    dead.powerOff();
    await list(world, "controlPlane", at(1, 3, 4));
    await world.until("missed", async () => /has not answered since/.test((await removing(world))?.message ?? ""));
    assert.equal((await removing(world))?.reason, "RemovingMember");
    assert.match(
      (await removing(world))?.message ?? "",
      /^demo-10\.5\.0\.2 was removed from the spec and has not answered since \S+Z\. Its etcd member is removed a minute later\./,
    );
    // It goes on by itself.
    assert.equal(await world.condition(kinds.controlPlane, "Stalled"), undefined);
    const wordAsked = async (): Promise<string | undefined> =>
      /abandon-machine: (\S+)\.$/.exec((await removing(world))?.message ?? "")?.[1];
    await world.until("counted as gone", async () => (await wordAsked()) !== undefined);
    const word = await wordAsked();
    await world.annotate(kinds.controlPlane, "talos-operator.dev/abandon-machine", word);
    await settled(world, at(1, 3, 4));
    await world.until("its object is gone", async () => !(await objects(world)).includes("demo-10.5.0.2"), 30);
    assert.deepEqual(
      await objects(world),
      at(1, 3, 4).map((address) => `demo-${address}`),
    );
    assert.equal((await world.get(kinds.controlPlane))?.metadata?.annotations?.["talos-operator.dev/abandon-machine"], undefined);
    assert.deepEqual(resets(world), []);
    assert.equal(removals(world).length, 1);
  }));

test("a dead control plane that is still listed keeps its member, and a fourth machine waits for it", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3));
    world.datacenter.machine("10.5.0.2").powerOff();
    await world.until("missed", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "False");
    await list(world, "controlPlane", at(1, 2, 3, 4, 5));
    await world.time.advance(20 * 60_000);
    assert.deepEqual(removals(world), []);
    assert.deepEqual(voters(world), at(1, 2, 3));
    assert.match(
      (await world.condition(kinds.cluster, "Ready"))?.message ?? "",
      /demo-10\.5\.0\.4 joins once every member of etcd is there.*take its machine out of the list/,
    );
    await list(world, "controlPlane", at(1, 3, 4));
    await world.until("replaced", async () => voters(world).join() === at(1, 3, 4).join());
  }));

test("a control plane that would make the members of etcd an even number waits until another one can follow it", () =>
  tell(options, async (world) => {
    await ready(world, at(1));
    world.datacenter.machine("10.5.0.3").powerOff();
    await list(world, "controlPlane", at(1, 2, 3));
    await world.time.advance(20 * 60_000);
    assert.deepEqual(voters(world), at(1));
    assert.match(
      (await world.condition(kinds.cluster, "Ready"))?.message ?? "",
      /demo-10\.5\.0\.2 joins once another control plane can follow it, for 2 members of etcd .*missing: demo-10\.5\.0\.3 \(/,
    );
    world.datacenter.machine("10.5.0.3").powerOn();
    await settled(world, at(1, 2, 3));
  }));

test("a healthy control plane stays while another one is dead, for etcd would lose its quorum", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3));
    world.datacenter.machine("10.5.0.2").powerOff();
    await list(world, "controlPlane", at(2));
    await world.until("said", async () => (await removing(world))?.reason === "WaitingForQuorum");
    assert.match(
      (await removing(world))?.message ?? "",
      /would lose its quorum without it: 1 healthy of 3 voters would be left, and 2 are needed/,
    );
    await world.time.advance(60_000);
    await assertQuiet(world);
    assert.deepEqual([...resets(world), ...removals(world)], []);
    world.datacenter.machine("10.5.0.2").powerOn();
    await settled(world, at(2));
  }));

test("an even number of control planes is explained and not carried out", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3));
    await list(world, "controlPlane", at(1, 2));
    await world.until("said", async () => (await world.condition(kinds.cluster, "EditRefused"))?.reason === "SpecInvalid");
    await world.time.advance(60_000);
    await assertQuiet(world);
    assert.deepEqual(resets(world), []);
    assert.deepEqual(voters(world), at(1, 2, 3));
  }));

test("lost quorum is recognised and explained, nothing is done, and it comes back by itself", () =>
  tell(options, async (world) => {
    await ready(world, at(1, 2, 3));
    for (const address of at(2, 3)) world.datacenter.machine(address).powerOff();
    await world.until("recognised", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.reason === "QuorumLost");
    const message = (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "";
    assert.match(message, /of 3 members only demo-10\.5\.0\.1 runs, and 2 are needed.*demo-10\.5\.0\.2 .*demo-10\.5\.0\.3 .*lost-quorum/);
    const sent = world.sent.length;
    await list(world, "controlPlane", at(1, 4, 5));
    await world.time.advance(20 * 60_000);
    assert.equal(world.sent.length, sent, "nothing was sent");
    for (const address of at(2, 3)) world.datacenter.machine(address).powerOn();
    await settled(world, at(1, 4, 5));
  }));

test("workers leave drained of their place, no more at once than maxUnavailable, and their objects go", () =>
  tell({ machines, timings: realisticTimings }, async (world) => {
    await ready(world, at(1), at(2, 3, 4, 5));
    let most = 0;
    const count = (): void => {
      most = Math.max(most, at(2, 3, 4, 5).filter((address) => world.datacenter.machine(address).state.stage === "resetting").length);
      world.time.timers.schedule(500, count);
    };
    count();
    await list(world, "worker", at(5));
    await world.until("left", async () => (await objects(world)).join() === "demo-10.5.0.1,demo-10.5.0.5", 1200);
    await world.untilReady();
    assert.equal(most, 1);
    assert.deepEqual(resets(world).toSorted(), at(2, 3, 4));
    await list(world, "worker", at(5, 2));
    await world.until("joined again", async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.2"))?.status === "True", 600);
  }));

test("workers leave at once as far as maxUnavailable says", () =>
  tell({ machines, timings: realisticTimings }, async (world) => {
    await ready(world, at(1), at(2, 3, 4, 5));
    await list(world, "worker", at(5), { rolloutStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } } });
    let most = 0;
    await world.until(
      "left",
      async () => {
        most = Math.max(most, at(2, 3, 4).filter((address) => world.datacenter.machine(address).state.stage === "resetting").length);
        return (await objects(world)).length === 2;
      },
      600,
    );
    assert.equal(most, 2);
  }));

test("no worker leaves beside one of its pool that is down", () =>
  tell({ machines, timings: realisticTimings }, async (world) => {
    await ready(world, at(1), at(2, 3, 4));
    world.datacenter.machine("10.5.0.4").powerOff();
    await world.until("missed", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "False");
    await list(world, "worker", at(3, 4));
    await world.until("said", async () => (await removing(world))?.reason === "WaitingForTurn");
    assert.match((await removing(world))?.message ?? "", /after demo-10\.5\.0\.4 \(maxUnavailable of demo: 1\)/);
    await world.time.advance(120_000);
    assert.deepEqual(resets(world), []);
    world.datacenter.machine("10.5.0.4").powerOn();
    await world.until("left", async () => (await objects(world)).length === 3, 600);
  }));

test("a dead worker that leaves the list holds up nobody, and waits for its wipe with a way out", () =>
  tell(options, async (world) => {
    await ready(world, at(1), at(2, 3));
    world.datacenter.machine("10.5.0.3").powerOff();
    await list(world, "worker", at(2, 4));
    await world.until("said", async () => (await removing(world))?.reason === "MachineUnreachable");
    await world.until("ready without it", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "True");
    world.datacenter.machine("10.5.0.3").powerOn();
    await world.until("wiped", async () => (await removing(world)) === undefined && !(await objects(world)).includes("demo-10.5.0.3"));
    assert.deepEqual(resets(world), at(3));
  }));

test("a worker pool that vanishes without a word is no wish to wipe its machines", () =>
  tell(options, async (world) => {
    await ready(world, at(1), at(2, 3));
    await world.stop();
    for (const [type, name] of [
      [kinds.worker, (await world.client.resource(kinds.worker).list()).items[0]?.metadata?.name ?? ""],
      [kinds.machine, "demo-10.5.0.2"],
      [kinds.machine, "demo-10.5.0.3"],
    ] as const) {
      const key = { namespace: "default", name };
      await world.client.resource(type).patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
      await world.client
        .resource(type)
        .delete(key)
        .catch(() => undefined);
    }
    await world.client
      .resource(kinds.cluster)
      .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { worker: null } } });
    await world.start();
    await world.until("said", async () => (await removing(world))?.reason === "ConfirmationRequired");
    await world.time.advance(600_000);
    assert.deepEqual(resets(world), []);
  }));

test("preserve keeps a control plane that left the list, and says why", () =>
  tell(options, async (world) => {
    const cluster = demoCluster(at(1, 2, 3), [], { deletionPolicy: "preserve" });
    await world.client.resource<TalosCluster>(kinds.cluster).create(cluster);
    await world.start();
    await world.untilReady();
    await list(world, "controlPlane", at(1));
    await world.until("said", async () => (await removing(world))?.reason === "ConfirmationRequired");
    assert.match((await removing(world))?.message ?? "", /would join etcd again at its next boot/);
    await world.time.advance(60_000);
    assert.deepEqual(resets(world), []);
    assert.deepEqual(voters(world), at(1, 2, 3));
  }));

for (const call of ["Reset", "EtcdRemoveMemberByID", "EtcdForfeitLeadership"])
  for (const moment of ["before it arrives", "before its answer comes back"] as const)
    test(`an operator that dies with ${call} ${moment} is followed by one that ends with the same members, each machine wiped once`, () => {
      const crash = crashingAt(call, moment);
      return tell({ machines, dialer: crash.dialer }, async (world) => {
        await ready(world, at(1, 2, 3));
        const isRemoval = call === "EtcdRemoveMemberByID";
        if (isRemoval) world.datacenter.machine("10.5.0.2").powerOff();
        const guard = watchQuorum(world);
        crash.arm();
        await list(world, "controlPlane", isRemoval ? at(1, 3, 4) : at(4));
        await world.until("died", async () => crash.hasStruck(), 600);
        await world.kill();
        crash.disarm();
        await world.time.advance(90_000);
        await world.start();
        if (isRemoval) {
          await world.until("replaced", async () => voters(world).join() === at(1, 3, 4).join(), 900);
          assert.equal(removals(world).length <= 2, true);
        } else {
          await settled(world, at(4), 1800);
          assert.deepEqual(
            world.datacenter.machines().map(({ state }) => state.wipes),
            [1, 1, 1, 0, 0, 0, 0, 0],
          );
        }
        guard.end();
      });
    });

for (const first of ["taken off the one", "listed in the other"] as const)
  test(`a worker that moves to another pool is wiped and installed anew there, when it is first ${first}`, () =>
    tell(options, async (world) => {
      await ready(world, at(1), at(4, 5));
      const entries = (addresses: readonly string[]): object => ({ metalSpec: { machines: addresses.map((address) => ({ address })) } });
      const [pool] = (await world.client.resource<TalosWorker>(kinds.worker).list()).items;
      assert.ok(pool !== undefined);
      const other = { ...pool, metadata: { namespace: "default", name: "other" }, spec: { ...pool.spec, ...entries(at(6)) } };
      await world.client.resource(kinds.worker).create(other);
      const isReady = async (name: string): Promise<boolean> => (await world.condition(kinds.machine, "Ready", name))?.status === "True";
      await world.until("the other pool is there", () => isReady("other-10.5.0.6"));
      const edits = [
        () => list(world, "worker", at(4)),
        () =>
          world.client
            .resource(kinds.worker)
            .patch({ namespace: "default", name: "other" }, { type: "merge", value: { spec: entries(at(6, 5)) } }),
      ];
      for (const edit of first === "taken off the one" ? edits : edits.toReversed()) {
        await edit();
        await world.time.advance(1_000);
      }
      await world.until("moved", () => isReady("other-10.5.0.5"), 300);
      assert.deepEqual(resets(world), at(5));
      assert.deepEqual(await objects(world), ["demo-10.5.0.1", "demo-10.5.0.4", "other-10.5.0.5", "other-10.5.0.6"]);
    }));

test("a machine that left a pool does not come back with a list that cannot be: nothing is written down, nobody is told that it is being configured", () =>
  tell(options, async (world) => {
    const { spec } = demoCluster(at(1), at(4, 5));
    const metadata = { namespace: "default", name: "demo" };
    const apiVersion = "talos.alperen.cloud/v1alpha1";
    await world.client
      .resource<KubeObject & { spec: unknown }>(kinds.controlPlane)
      .create({ apiVersion, kind: "TalosControlPlane", metadata, spec: spec?.controlPlane });
    const worker = { ...spec?.worker, controlPlaneRef: { name: "demo" } };
    await world.client
      .resource<KubeObject & { spec: unknown }>(kinds.worker)
      .create({ apiVersion, kind: "TalosWorker", metadata, spec: worker });
    const patch = (metalSpec: object): Promise<unknown> =>
      world.client.resource(kinds.worker).patch(metadata, { type: "merge", value: { spec: { metalSpec } } });
    const count = (machine: string): number => world.effects.filter((effect) => effect.endsWith(machine)).length;
    await world.start();
    await world.until("joined", async () => (await world.condition(kinds.worker, "Ready"))?.status === "True", 600);
    await patch({ machines: at(4).map((address) => ({ address })) });
    await world.until("left", async () => (await objects(world)).length === 2 && (await removing(world)) === undefined, 600);
    const effects = count("10.5.0.5");
    await patch({ machines: at(4, 5).map((address) => ({ address })), machineSpec: { configPatches: [{ machine: { sysctlz: {} } }] } });
    await world.until("refused", async () => (await world.condition(kinds.worker, "EditRefused"))?.reason === "SpecInvalid");
    await world.time.advance(60_000);
    assert.equal(count("10.5.0.5"), effects);
    assert.doesNotMatch((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /being configured/);
  }));

/** Ends every call of this name for good, before the machine hears of it or after it acted, as the death of the operator does. */
function crashingAt(
  call: string,
  moment: "before it arrives" | "before its answer comes back",
): { readonly dialer: (real: TalosDialer) => TalosDialer; arm(): void; disarm(): void; hasStruck(): boolean } {
  let isArmed = false;
  let hasStruck = false;
  return {
    arm: () => void (isArmed = true),
    disarm: () => void (isArmed = false),
    hasStruck: () => hasStruck,
    dialer: (real) =>
      withUnary(real, ({ channel }) => async (method, request, options) => {
        if (!isArmed || !method.path.endsWith(`/${call}`)) return channel.unary(method, request, options);
        if (moment === "before its answer comes back") await channel.unary(method, request, options);
        hasStruck = true;
        return new Promise(() => {});
      }),
  };
}
