import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { createTalosClient } from "@talos-operator/talos/client";
import { asPerson } from "./as-person.ts";
import { Interruption } from "./interruption.ts";
import { assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const machines = at(1, 2, 3, 4, 5, 9).map((address) => ({ address }));
const STRANGER = "10.5.0.9";

/** Three control planes. */
function ready(options: StoryOptions, story: (world: Story) => Promise<void>): Promise<void> {
  return tell({ machines, ...options }, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(at(1, 2, 3)));
    await world.start();
    await world.untilReady();
    await story(world);
  });
}

/** Somebody gives a machine that no spec lists the configuration of a control plane: it joins etcd. */
async function addByHand(world: Story): Promise<void> {
  const config = world.datacenter.machine("10.5.0.1").state.config.persisted ?? "";
  const client = createTalosClient(world.datacenter.dialer().dial({ address: STRANGER }, { kind: "maintenance" }));
  try {
    await client.applyConfiguration({ config, mode: "auto" }, { timeoutMs: 10_000 });
  } finally {
    client.close();
  }
  await world.until("it is a member", async () => members(world).includes(STRANGER), 300);
}

const members = (world: Story): readonly string[] =>
  (world.datacenter.etcdClusters()[0]?.members ?? []).map(({ peerUrl }) => new URL(peerUrl).hostname).toSorted();

const removals = (world: Story): readonly string[] => world.effects.filter((effect) => effect.startsWith("EtcdRemoveMemberByID"));

const health = async (world: Story): Promise<string> => {
  const { reason = "", message = "" } = (await world.condition(kinds.controlPlane, "EtcdHealthy")) ?? {};
  return `${reason}: ${message}`;
};

async function list(world: Story, addresses: readonly string[]): Promise<void> {
  const spec = { controlPlane: { metalSpec: { machines: addresses.map((address) => ({ address })) } } };
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

async function cleaned(world: Story): Promise<void> {
  await world.until("it is gone", async () => !members(world).includes(STRANGER), 900);
  await world.untilReady();
}

describe("a member of etcd that belongs to no machine", () => {
  test("and is away, is removed although etcd is full: only then may another one be defragmented", () =>
    ready({}, async (world) => {
      await addByHand(world);
      world.datacenter.machine(STRANGER).powerOff();
      const [etcd] = world.datacenter.etcdClusters();
      const database = world.datacenter.etcdDatabase(etcd?.key ?? "");
      database?.fill();
      await cleaned(world);
      assert.deepEqual([members(world), removals(world).length, database?.alarms()], [at(1, 2, 3), 1, []]);
    }));

  for (const kind of ["voter", "learner"] as const)
    test(`a ${kind} that was added by hand is named, and removed once it was seen twice, minutes apart`, () =>
      ready({}, async (world) => {
        if (kind === "learner") world.datacenter.machine(STRANGER).setCatchingUp(false);
        await addByHand(world);
        const before = world.sent.length;
        const guard = watchQuorum(world);
        if (kind === "voter") {
          await world.until(
            "named",
            async () => /^MemberUnexpected.*still so in two minutes.*stray-member\.md/.test(await health(world)),
            300,
          );
        }
        assert.deepEqual(removals(world), [], "not by one look");
        await cleaned(world);
        guard.end();
        assert.deepEqual([members(world), removals(world).length], [at(1, 2, 3), 1]);
        // Its machine is nobody's: nothing was sent to it.
        assert.equal(
          world.sent.slice(before).some((call) => call.includes(STRANGER)),
          false,
        );
        await world.time.advance(120_000);
        await assertQuiet(world, 3);
      }));

  test("the member that a machine left which was wiped by hand is removed, and a control plane can join again", () =>
    ready({}, async (world) => {
      await addByHand(world);
      await asPerson(world, STRANGER, (client) => client.reset({ graceful: false, reboot: true }, { timeoutMs: 10_000 }));
      await list(world, at(1, 2, 3, 4, 5));
      await world.until("five", async () => members(world).join() === at(1, 2, 3, 4, 5).join(), 1_200);
      await world.untilReady();
      assert.equal(removals(world).length, 1);
    }));

  test("stays while a machine that does not answer may be it, which is named; it goes when that machine leaves the list", () =>
    ready({}, async (world) => {
      await addByHand(world);
      world.datacenter.machine(STRANGER).setConnected(false);
      world.datacenter.machine("10.5.0.4").powerOff();
      await list(world, ["10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.0.4", STRANGER]);
      await world.time.advance(20 * 60_000);
      assert.deepEqual(removals(world), []);
      await list(world, at(1, 2, 3));
      await cleaned(world);
      assert.equal(removals(world).length, 1);
    }));

  test("stays while the cluster is paused", () =>
    ready({}, async (world) => {
      await world.annotate(kinds.controlPlane, "talos.alperen.cloud/reconcile-mode", "disable");
      await addByHand(world);
      await world.time.advance(20 * 60_000);
      assert.deepEqual(removals(world), []);
    }));

  test("stays while another voter is away, for etcd would lose its quorum", () =>
    ready({}, async (world) => {
      await addByHand(world);
      world.datacenter.machine("10.5.0.3").setConnected(false);
      await world.time.advance(20 * 60_000);
      assert.deepEqual(removals(world), []);
      world.datacenter.machine("10.5.0.3").setConnected(true);
      await cleaned(world);
    }));

  for (const side of ["before", "after"] as const)
    test(`is removed once, when the operator dies right ${side} the call`, () => {
      const cut = new Interruption();
      return ready({ dialer: cut.dialer, kube: cut.kube }, async (world) => {
        await addByHand(world);
        cut.begin({ call: /^EtcdRemoveMemberByID/, side, isKilled: true }, async () => {});
        await world.until("met", async () => cut.metAt !== undefined, 900);
        await cut.tend(world);
        await cleaned(world);
        assert.deepEqual([members(world), removals(world).length], [at(1, 2, 3), 1]);
      });
    });
});
