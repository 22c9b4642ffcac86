// Who makes the TalosMachines of worker pools: the work item of their cluster, and nobody where there is none.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosControlPlane } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const { spec: both, ...demo } = demoCluster(["10.5.0.1"], ["10.5.0.2", "10.5.0.3"]);

const controlPlane = { ...demo, kind: "TalosControlPlane", spec: both?.controlPlane } as KubeObject;

/** A worker pool. @param addresses of its machines */
function pool(addresses: readonly string[], { name = "pool", of = "demo" } = {}): KubeObject {
  const metalSpec = { ...both?.worker?.metalSpec, machines: addresses.map((address) => ({ address })) };
  return {
    ...demo,
    kind: "TalosWorker",
    metadata: { namespace: "default", name },
    spec: { ...both?.worker, metalSpec, controlPlaneRef: { name: of } },
  } as KubeObject;
}

const workers = pool(["10.5.0.2", "10.5.0.3"]);

const reasonOf = async (world: Story, name = "pool"): Promise<string | undefined> =>
  (await world.condition(kinds.worker, "Ready", name))?.reason;
const isReady = async (world: Story, name = "pool"): Promise<boolean> =>
  (await world.condition(kinds.worker, "Ready", name))?.status === "True";

/** TalosMachines by name, with their UIDs. */
async function machines({ client }: Story): Promise<Readonly<Record<string, string>>> {
  const { items } = await client.resource(kinds.machine).list();
  return Object.fromEntries(items.map(({ metadata }) => [metadata?.name ?? "", metadata?.uid ?? ""]));
}

/** A person edits the spec of an object. */
async function edit(
  { client }: Story,
  type: (typeof kinds)[keyof typeof kinds],
  { metadata, spec }: KubeObject & { spec?: object },
): Promise<void> {
  await client.resource(type).patch({ namespace: "default", name: metadata?.name ?? "" }, { type: "merge", value: { spec } });
}

/** A person takes an object away with its finalizers. */
async function takeAway({ client }: Story, type: (typeof kinds)[keyof typeof kinds], name: string): Promise<void> {
  const key = { namespace: "default", name };
  await client.resource(type).patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
  await client.resource(type).delete(key);
}

describe("a pool without a control plane", () => {
  test("makes no TalosMachine and says so; its machines join when the control plane comes (B024)", () =>
    tell({}, async (world) => {
      await apply(world, kinds.worker, workers);
      await world.start();
      await world.until("said", async () => (await reasonOf(world)) === "ControlPlaneNotFound");
      assert.match((await world.condition(kinds.worker, "Ready", "pool"))?.message ?? "", /no TalosControlPlane demo .* Create it/);
      await world.time.advance(60_000);
      assert.deepEqual(await machines(world), {});
      assert.deepEqual((await world.get(kinds.worker, "pool"))?.metadata?.finalizers ?? [], [], "nothing that guards nothing");
      await apply(world, kinds.controlPlane, controlPlane);
      await world.until("Ready", () => isReady(world));
      assert.deepEqual(Object.keys(await machines(world)), ["demo-10.5.0.1", "pool-10.5.0.2", "pool-10.5.0.3"]);
    }));

  test("goes at once when it is deleted", () =>
    tell({}, async (world) => {
      await apply(world, kinds.worker, workers);
      await world.start();
      await world.until("said", async () => (await reasonOf(world)) === "ControlPlaneNotFound");
      await world.client.resource(kinds.worker).delete({ namespace: "default", name: "pool" });
      await world.until("gone", async () => (await world.get(kinds.worker, "pool")) === undefined, 10);
    }));

  test("whose control plane was taken away and comes back: nothing is made meanwhile, nothing is sent to its machines, and all is as before", () =>
    tell({}, async (world) => {
      await apply(world, kinds.controlPlane, controlPlane);
      await apply(world, kinds.worker, workers);
      await world.start();
      await world.until("Ready", () => isReady(world));
      await world.time.advance(60_000);
      const before = await machines(world);
      const sent = world.sent.length;

      await takeAway(world, kinds.controlPlane, "demo");
      await world.until("said", async () => (await reasonOf(world)) === "ControlPlaneNotFound");
      await takeAway(world, kinds.machine, "pool-10.5.0.2");
      await world.time.advance(120_000);
      const { "pool-10.5.0.2": first, ...kept } = before;
      const { "demo-10.5.0.1": _own, ...left } = kept;
      assert.ok(first);
      assert.deepEqual(await machines(world), kept);
      assert.deepEqual(left, { "pool-10.5.0.3": before["pool-10.5.0.3"] });

      await apply(world, kinds.controlPlane, controlPlane);
      const [record] = (await world.client.resource<KubeObject & { spec?: { clusterId?: string } }>(kinds.record).list()).items;
      await world.annotate(kinds.controlPlane, "talos-operator.dev/adopt", record?.spec?.clusterId);
      await world.until("Ready", () => isReady(world), 600);
      const again = await machines(world);
      assert.deepEqual(Object.keys(again), Object.keys(before));
      assert.equal(again["pool-10.5.0.3"], before["pool-10.5.0.3"]);
      assert.deepEqual(world.sent.slice(sent), []);
    }));

  test("that is deleted keeps a machine that may be configured, says what releases it, and goes with the control plane that comes back", () =>
    tell({}, async (world) => {
      await apply(world, kinds.controlPlane, controlPlane);
      await apply(world, kinds.worker, workers);
      await world.start();
      await world.until("Ready", () => isReady(world));
      await takeAway(world, kinds.controlPlane, "demo");
      await world.until("said", async () => (await reasonOf(world)) === "ControlPlaneNotFound");
      await world.client.resource(kinds.worker).delete({ namespace: "default", name: "pool" });
      await world.time.advance(60_000);
      const told = await world.condition(kinds.worker, "Deleting", "pool");
      assert.match(
        told?.message ?? "",
        /no TalosControlPlane to wipe them with: pool-10\.5\.0\.2, pool-10\.5\.0\.3\. Create TalosControlPlane demo/,
      );
      await apply(world, kinds.controlPlane, controlPlane);
      const [record] = (await world.client.resource<KubeObject & { spec?: { clusterId?: string } }>(kinds.record).list()).items;
      await world.annotate(kinds.controlPlane, "talos-operator.dev/adopt", record?.spec?.clusterId);
      await world.until("gone", async () => (await world.get(kinds.worker, "pool")) === undefined, 900);
      assert.deepEqual(world.sent.filter((call) => call.startsWith("Reset ")).toSorted(), ["Reset 10.5.0.2", "Reset 10.5.0.3"]);
    }));
});

describe("a pool of a control plane that is there", () => {
  test("says that it waits for it where its spec cannot be, and is made when that is corrected", () =>
    tell({}, async (world) => {
      const wrong = { ...(controlPlane as TalosControlPlane).spec, endpoint: "http://10.5.0.100:6443" };
      await apply(world, kinds.controlPlane, { ...controlPlane, spec: wrong });
      await apply(world, kinds.worker, workers);
      await world.start();
      await world.until("said", async () => (await reasonOf(world)) === "ControlPlaneNotReady");
      await world.time.advance(60_000);
      assert.deepEqual(await machines(world), {});
      await edit(world, kinds.controlPlane, controlPlane);
      await world.until("Ready", () => isReady(world));
    }));

  test("is refused its TalosMachines: the pool says so, its cluster is made all the same, and it joins when they are let in", () => {
    let isRefusing = true;
    const ofPool = ({ method, path, body }: KubeRequest): boolean =>
      method === "POST" && path.endsWith("/talosmachines") && JSON.stringify(body ?? {}).includes("workerRef");
    const kube = (real: KubeTransport): KubeTransport => ({
      ...real,
      send: async (request, options) => {
        if (!isRefusing || !ofPool(request)) return real.send(request, options);
        const failure = { kind: "Status", apiVersion: "v1", status: "Failure", code: 403, reason: "Forbidden", message: "exceeded quota" };
        return { status: 403, headers: {}, body: failure };
      },
    });
    return tell({ kube }, async (world) => {
      await apply(world, kinds.controlPlane, controlPlane);
      await apply(world, kinds.worker, workers);
      await world.start();
      await world.until("said", async () => (await reasonOf(world)) === "WriteRefused", 60);
      await world.until("founded", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status === "True");
      assert.match((await world.condition(kinds.worker, "Ready", "pool"))?.message ?? "", /FORBIDDEN: .*talosmachines.*exceeded quota/);
      isRefusing = false;
      await world.until("Ready", () => isReady(world));
    });
  });

  test("lists an address of another pool: both say so, nothing is made of it, and the one that keeps it goes on", () =>
    tell({}, async (world) => {
      await apply(world, kinds.controlPlane, controlPlane);
      await apply(world, kinds.worker, workers);
      await apply(world, kinds.worker, pool(["10.5.0.3"], { name: "second" }));
      await world.start();
      for (const name of ["pool", "second"])
        await world.until(`${name} says so`, async () => (await reasonOf(world, name)) === "DuplicateAddress");
      await world.time.advance(60_000);
      assert.deepEqual(
        Object.keys(await machines(world)).filter((name) => !name.startsWith("demo-")),
        [],
      );
      await edit(world, kinds.worker, pool([], { name: "second" }));
      await world.until("Ready", () => isReady(world));
    }));

  test("that is told to refer to another: nobody's machines are wiped by that, both say what is waited for, and all is well when it refers back", () =>
    tell({}, async (world) => {
      const other = { ...demoCluster(["10.5.0.4"], []).spec?.controlPlane, endpoint: "https://10.5.0.4:6443" };
      await apply(world, kinds.controlPlane, controlPlane);
      await apply(world, kinds.controlPlane, { ...controlPlane, metadata: { namespace: "default", name: "other" }, spec: other });
      await apply(world, kinds.worker, pool(["10.5.0.2"]));
      await world.start();
      await world.until("Ready", () => isReady(world));
      await world.until("both", async () => (await world.condition(kinds.controlPlane, "Ready", "other"))?.status === "True");
      await world.time.advance(60_000);
      const before = await machines(world);
      const sent = world.sent.length;
      await edit(world, kinds.worker, pool(["10.5.0.2"], { of: "other" }));
      await world.until("the pool says so", async () => (await reasonOf(world)) === "ForeignCluster", 60);
      const removing = async (): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "Removing");
      await world.until("its cluster says so", async () => (await removing())?.reason === "ConfirmationRequired", 60);
      assert.match((await removing())?.message ?? "", /pool-10\.5\.0\.2 .*no wish to wipe it. Bring the pool back/);
      assert.equal((await world.condition(kinds.controlPlane, "Stalled"))?.reason, "PersonNeeded");
      await world.time.advance(300_000);
      assert.deepEqual(await machines(world), before);
      await edit(world, kinds.worker, pool(["10.5.0.2"]));
      await world.until("Ready", () => isReady(world), 60);
      await world.until("its cluster", async () => (await removing()) === undefined, 60);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
      assert.deepEqual(world.sent.slice(sent), []);
    }));
});
