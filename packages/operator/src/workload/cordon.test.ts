import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { KubeTransport } from "@talos-operator/ports";
import { cordon, uncordon } from "./cordon.ts";
import { nodeType } from "./kinds.ts";
import type { NodeObject } from "./kinds.ts";
import { deleteNodeObject } from "./node-objects.ts";
import { CORDON_MARK } from "./seen-node.ts";

const owner = { uuid: "00112233-4455-6677-8899-aabbccddeeff", address: "10.0.0.1" };
const options = { timeoutMs: 1_000 };

interface World {
  readonly admin: KubeClient;
  /** Its first write is preceded by `meanwhile`. */
  readonly client: KubeClient;
  meanwhile: (() => Promise<unknown>) | undefined;
  node(): Promise<NodeObject | undefined>;
  patch(value: Record<string, unknown>): Promise<unknown>;
}

async function withNode(use: (world: World) => Promise<void>): Promise<void> {
  const time = createVirtualTime();
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  const real = server.transport({ name: "test", groups: ["system:masters"] });
  const admin = createKubeClient(real);
  const nodes = admin.resource<NodeObject>(nodeType);
  await nodes.create({ metadata: { name: "a" } });
  const status = { addresses: [{ type: "InternalIP", address: owner.address }], nodeInfo: { systemUUID: owner.uuid } };
  await nodes.patchStatus({ name: "a" }, { type: "merge", value: { status } });
  const raced: KubeTransport = {
    ...real,
    async send(request, given) {
      const { meanwhile } = world;
      if (request.method !== "GET" && meanwhile !== undefined) {
        world.meanwhile = undefined;
        await meanwhile();
      }
      return real.send(request, given);
    },
  };
  const world: World = {
    admin,
    client: createKubeClient(raced),
    meanwhile: undefined,
    node: () => nodes.tryGet({ name: "a" }),
    patch: (value) => nodes.patch({ name: "a" }, { type: "merge", value }),
  };
  try {
    await use(world);
  } finally {
    server.close();
  }
}

test("a cordon carries the mark and goes with it", () =>
  withNode(async (world) => {
    assert.equal(await cordon(world.client, "a", owner, "demo/a", options), "done");
    const { spec, metadata } = (await world.node()) ?? {};
    assert.deepEqual([spec?.unschedulable, metadata?.annotations?.[CORDON_MARK]], [true, "demo/a"]);
    assert.equal(await cordon(world.client, "a", owner, "demo/a", options), "done");
    assert.equal(await uncordon(world.client, "a", owner, options), "done");
    const after = (await world.node()) ?? {};
    assert.deepEqual([after.spec?.unschedulable, after.metadata?.annotations?.[CORDON_MARK]], [undefined, undefined]);
    assert.equal(await uncordon(world.client, "a", owner, options), "not-ours");
  }));

test("a person who cordons between our reading and writing keeps the cordon", () =>
  withNode(async (world) => {
    world.meanwhile = () => world.patch({ spec: { unschedulable: true } });
    assert.equal(await cordon(world.client, "a", owner, "demo/a", options), "done");
    assert.equal((await world.node())?.metadata?.annotations?.[CORDON_MARK], undefined);
    assert.equal(await uncordon(world.client, "a", owner, options), "not-ours");
    assert.equal((await world.node())?.spec?.unschedulable, true);
  }));

test("a person who takes our mark off makes the cordon theirs, though we put it on", () =>
  withNode(async (world) => {
    await cordon(world.client, "a", owner, "demo/a", options);
    await world.patch({ metadata: { annotations: { [CORDON_MARK]: null } } });
    assert.equal(await cordon(world.client, "a", owner, "demo/a", options), "done");
    assert.equal(await uncordon(world.client, "a", owner, options), "not-ours");
    assert.equal((await world.node())?.spec?.unschedulable, true);
  }));

test("a Node that a person made schedulable loses the mark alone", () =>
  withNode(async (world) => {
    await cordon(world.client, "a", owner, "demo/a", options);
    await world.patch({ spec: { unschedulable: null } });
    assert.equal(await uncordon(world.client, "a", owner, options), "done");
    assert.equal((await world.node())?.metadata?.annotations?.[CORDON_MARK], undefined);
  }));

test("a Node made anew under the name by another machine is not written to", () =>
  withNode(async (world) => {
    world.meanwhile = async () => {
      await world.admin.resource(nodeType).delete({ name: "a" });
      await world.admin.resource<NodeObject>(nodeType).create({ metadata: { name: "a" } });
      await world.admin
        .resource<NodeObject>(nodeType)
        .patchStatus(
          { name: "a" },
          { type: "merge", value: { status: { nodeInfo: { systemUUID: "ffffffff-0000-1111-2222-333333333333" } } } },
        );
    };
    assert.equal(await cordon(world.client, "a", owner, "demo/a", options), "other-machine");
    assert.equal((await world.node())?.spec?.unschedulable, undefined);
  }));

test("writes that lose against others again and again fail", () =>
  withNode(async (world) => {
    let count = 0;
    const again = async (): Promise<void> => {
      count += 1;
      await world.patch({ metadata: { labels: { count: String(count) } } });
      world.meanwhile = again;
    };
    world.meanwhile = again;
    await assert.rejects(cordon(world.client, "a", owner, "demo/a", options), { code: "CONFLICT" });
    assert.equal(count, 5);
  }));

test("a Node whose kubelet comes back at the last moment is not deleted", () =>
  withNode(async (world) => {
    world.meanwhile = () =>
      world.admin
        .resource<NodeObject>(nodeType)
        .patchStatus({ name: "a" }, { type: "merge", value: { status: { conditions: [{ type: "Ready", status: "True" }] } } });
    assert.equal(await deleteNodeObject(world.client, "a", () => true, options), false);
    assert.notEqual(await world.node(), undefined);
    assert.equal(await deleteNodeObject(world.client, "a", () => true, options), false, "it is ready");
  }));

test("a Node is deleted once, and only if it fits", () =>
  withNode(async (world) => {
    assert.equal(await deleteNodeObject(world.client, "a", () => false, options), false);
    assert.equal(await deleteNodeObject(world.client, "a", () => true, options), true);
    assert.equal(await deleteNodeObject(world.client, "a", () => true, options), false);
  }));
