import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import type { TalosDialer, Timers } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const machines = at(1, 2, 3, 4).map((address) => ({ address }));

async function list(world: Story, addresses: readonly string[]): Promise<void> {
  const spec = { controlPlane: { metalSpec: { machines: addresses.map((address) => ({ address })) } } };
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

const voters = (world: Story): string =>
  (world.datacenter.etcdClusters()[0]?.members ?? [])
    .filter(({ isLearner }) => !isLearner)
    .map(({ peerUrl }) => new URL(peerUrl).hostname)
    .toSorted()
    .join();

const settled = (world: Story, addresses: readonly string[]) => async (): Promise<boolean> =>
  voters(world) === addresses.join() &&
  (await world.condition(kinds.controlPlane, "Removing")) === undefined &&
  (await world.condition(kinds.cluster, "Ready"))?.status === "True";

const wipes = (world: Story, address: string): number => world.datacenter.machine(address).state.wipes;

/** Resets of the machine that is asked first time out: the first one takes place when `arrive` is called, those after it as `others` says. */
function lateResets(others: "lost" | "answered"): {
  readonly dialer: (real: TalosDialer) => TalosDialer;
  /** For the timeouts. */
  timers: Timers | undefined;
  sent(): number;
  arrive(world: Story): Promise<void>;
} {
  let sent = 0;
  let held: (() => Promise<unknown>) | undefined;
  let first: string | undefined;
  const late = {
    timers: undefined as Timers | undefined,
    sent: () => sent,
    async arrive(world: Story) {
      const answer = held?.();
      await world.time.advance(5_000);
      await answer;
    },
    dialer: (real: TalosDialer): TalosDialer =>
      withUnary(real, ({ address, channel, again }) => async (method, request, options) => {
        if (!method.path.endsWith("/Reset")) return channel.unary(method, request, options);
        first ??= address;
        if (address !== first) return channel.unary(method, request, options);
        sent += 1;
        if (sent > 1 && others === "answered") return channel.unary(method, request, options);
        // Whoever carries it on the way asks again for itself.
        held ??= () => again().unary(method, request, { timeoutMs: 20_000 });
        await late.timers?.sleep(options.timeoutMs);
        throw Object.assign(new Error("deadline exceeded"), { name: "TalosCallFailure" as const, code: 4 });
      }),
  };
  return late;
}

/** Of three control planes the third is exchanged for the fourth, and its reset times out. */
function exchanged(
  others: "lost" | "answered",
  story: (world: Story, late: ReturnType<typeof lateResets>) => Promise<void>,
): Promise<void> {
  const late = lateResets(others);
  return tell({ machines, dialer: late.dialer }, async (world) => {
    late.timers = world.time.timers;
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(at(1, 2, 3)));
    await world.start();
    await world.untilReady();
    const guard = watchQuorum(world);
    await list(world, at(1, 2, 4));
    await world.until("asked to wipe", async () => late.sent() > 0);
    await story(world, late);
    guard.end();
  });
}

test("a reset that timed out and comes minutes later is waited for, and counts when it comes", () =>
  exchanged("lost", async (world, late) => {
    await world.time.advance(5 * 60_000);
    const removing = await world.condition(kinds.controlPlane, "Removing");
    assert.equal(removing?.reason, "Resetting");
    assert.match(removing.message, /^demo-10\.5\.0\.3 leaves etcd and is wiped; it is released once it answers in maintenance mode\.$/);
    await late.arrive(world);
    await world.until("replaced", settled(world, at(1, 2, 4)));
    assert.equal(wipes(world, "10.5.0.3"), 1);
  }));

test("a reset that comes after its machine was listed again wipes it, and it joins anew; nobody else is disturbed in between", () =>
  exchanged("lost", async (world, late) => {
    await list(world, at(1, 2, 3));
    await world.time.advance(4 * 60_000);
    const sent = late.sent();
    await world.time.advance(60_000);
    assert.equal(late.sent(), sent, "nobody asks for the wipe of a machine that is listed");
    const removing = await world.condition(kinds.controlPlane, "Removing");
    assert.match(
      removing?.message ?? "",
      /demo-10\.5\.0\.4 leaves after demo-10\.5\.0\.3 is done \(Reset\)|listed again; its reset may have been sent/,
    );
    assert.equal(voters(world), at(1, 2, 3, 4).join());
    await late.arrive(world);
    await world.until("as listed", settled(world, at(1, 2, 3)), 1_800);
    assert.deepEqual([wipes(world, "10.5.0.3"), wipes(world, "10.5.0.4")], [1, 1]);
  }));

test("a reset that comes after its machine was configured anew takes no quorum, is told, and a person's word brings the machine back", () =>
  exchanged("answered", async (world, late) => {
    await world.until("replaced", settled(world, at(1, 2, 4)));
    await list(world, at(1, 2, 3));
    await world.until("back in its place", settled(world, at(1, 2, 3)), 1_800);
    await late.arrive(world);
    await world.until("told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "MaintenanceUnexpected");
    const { message = "" } = (await world.condition(kinds.controlPlane, "Ready")) ?? {};
    const word = /approve-reprovision: (\S+?)\.?(\s|$)/.exec(message)?.[1];
    assert.ok(word !== undefined, message);
    const configured = world.effects.filter((effect) => effect === "ApplyConfiguration 10.5.0.3").length;
    await world.time.advance(5 * 60_000);
    assert.equal(world.effects.filter((effect) => effect === "ApplyConfiguration 10.5.0.3").length, configured, "nothing is sent unasked");
    await world.annotate(kinds.controlPlane, "talos-operator.dev/approve-reprovision", word);
    await world.until("back again", settled(world, at(1, 2, 3)), 1_800);
    assert.equal(wipes(world, "10.5.0.3"), 2);
  }));
