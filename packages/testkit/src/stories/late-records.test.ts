import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1"];
const demo = { namespace: "default", name: "demo" };

/** Keeps the first creation of a record on its way; whoever sent it hears nothing of it, and sends it again. */
class HeldRecord {
  #send: (() => Promise<unknown>) | undefined;
  #isNext = false;

  kube(real: KubeTransport): KubeTransport {
    return {
      ...real,
      send: async (request: KubeRequest, options) => {
        const isCreation = request.method === "POST" && request.path.endsWith("/clusterrecords");
        if (isCreation && this.#send === undefined) {
          this.#send = () => real.send(request);
          throw Object.assign(new Error("the connection broke"), { name: "KubeTransportFailure" });
        }
        if (isCreation && this.#isNext) await this.arrive();
        return real.send(request, options);
      },
    };
  }

  /** It arrives now. */
  async arrive(): Promise<void> {
    this.#isNext = false;
    await this.#send?.();
  }

  /** It arrives right before the next one. */
  overtakeNext(): void {
    this.#isNext = true;
  }
}

/** A cluster is made and deleted to the end. */
async function makeAndDelete(world: Story): Promise<void> {
  await world.client.resource(kinds.cluster).create(demoCluster(cps));
  await world.start();
  await world.untilReady();
  await world.client.resource(kinds.cluster).delete(demo);
  await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 600);
  assert.equal(await world.get(kinds.record), undefined);
}

test("a record whose creation arrives after its cluster was deleted is removed", () => {
  const held = new HeldRecord();
  return tell({ kube: (real) => held.kube(real) }, async (world) => {
    await makeAndDelete(world);
    await world.time.advance(30_000);
    await held.arrive();
    assert.notEqual(await world.get(kinds.record), undefined);
    await world.until("removed", async () => (await world.get(kinds.record)) === undefined, 120);
  });
});

test("a record that arrives late does not stop the next cluster of its name", () => {
  const held = new HeldRecord();
  return tell({ kube: (real) => held.kube(real) }, async (world) => {
    await makeAndDelete(world);
    held.overtakeNext();
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.untilReady();
  });
});

test("a record of a deleted cluster that somebody brings back with its keys stays", () =>
  tell({}, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.start();
    await world.untilReady();
    const record = await world.client.resource(kinds.record).get(demo);
    const keys = await world.client.resource(kinds.secret).get({ ...demo, name: "demo-bundle-1" });
    await world.client.resource(kinds.cluster).delete(demo);
    await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 600);
    for (const [type, object] of [
      [kinds.secret, keys],
      [kinds.record, record],
    ] as const) {
      const { name = "", labels = {} } = object.metadata ?? {};
      await world.client.resource(type).create({ ...object, metadata: { namespace: "default", name, labels } });
    }
    await world.time.advance(300_000);
    assert.notEqual(await world.get(kinds.record), undefined);
  }));
