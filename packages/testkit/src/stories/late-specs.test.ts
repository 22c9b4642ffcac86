import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosControlPlane } from "@talos-operator/api";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };

/** Keeps one apply of a control plane's spec on its way; whoever sent it hears that the connection broke. */
class HeldApply {
  #send: (() => Promise<{ readonly status: number }>) | undefined;
  #isNext = false;

  kube(real: KubeTransport): KubeTransport {
    return {
      ...real,
      send: async (request: KubeRequest, options) => {
        const isSpec = request.method === "PATCH" && request.path.endsWith("/taloscontrolplanes/demo") && request.body !== undefined;
        if (isSpec && this.#isNext && "spec" in (request.body as object)) {
          this.#isNext = false;
          this.#send = () => real.send(request);
          throw Object.assign(new Error("the connection broke"), { name: "KubeTransportFailure" });
        }
        return real.send(request, options);
      },
    };
  }

  holdNext(): void {
    this.#isNext = true;
  }

  get isHeld(): boolean {
    return this.#send !== undefined;
  }

  /** It arrives now. @returns the status of the answer */
  async arrive(): Promise<number | undefined> {
    return (await this.#send?.())?.status;
  }
}

/** A cluster of one control plane, of which the write that makes it three does not arrive at first. */
async function growLate(world: Story, held: HeldApply): Promise<void> {
  await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
  await world.start();
  await world.untilReady();
  held.holdNext();
  await edit(world, ["10.5.0.1", "10.5.0.2", "10.5.0.3"]);
  await world.until("sent again", async () => held.isHeld && (await machinesOf(world)) === 3);
}

async function edit(world: Story, addresses: readonly string[]): Promise<void> {
  const { spec } = demoCluster(addresses);
  await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
}

async function machinesOf(world: Story): Promise<number> {
  const controlPlane = (await world.get(kinds.controlPlane)) as TalosControlPlane | undefined;
  return controlPlane?.spec?.metalSpec?.machines?.length ?? 0;
}

test("a list of machines whose write is lost is written again", () => {
  const held = new HeldApply();
  return tell({ kube: (real) => held.kube(real) }, async (world) => {
    await growLate(world, held);
    await world.untilReady();
  });
});

test("an older list of machines that arrives late takes nothing back (S19)", () => {
  const held = new HeldApply();
  return tell({ kube: (real) => held.kube(real) }, async (world) => {
    await growLate(world, held);
    await edit(world, ["10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.0.4", "10.5.0.5"]);
    await world.until("five are wanted", async () => (await machinesOf(world)) === 5);
    assert.equal(await held.arrive(), 409);
    assert.equal(await machinesOf(world), 5);
    await world.untilReady();
  });
});
