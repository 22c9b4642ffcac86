import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { META_KEYS } from "@talos-operator/talos/client";
import { withUnary } from "../world/with-calls.ts";
import { asPerson } from "./as-person.ts";
import { apply, assertQuiet, assertStoppedBy } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const meta = { interface: "eth0", subnet: 24, gateway: "10.5.0.254", dnsServers: ["10.5.0.53"] };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const withMeta = (settings: object | undefined, hosts: readonly string[] = cps) =>
  demoCluster(hosts, [], {
    metalSpec: {
      machines: hosts.map((address) => ({ address })),
      machineSpec: { installDisk: "/dev/sda", ...(settings === undefined ? {} : { meta: settings }) },
    },
  });
const demo = { namespace: "default", name: "demo" };
const metaOf = (world: Story, address: string): string | undefined => world.datacenter.machine(address).state.meta["10"];
const written = (world: Story): readonly string[] => world.effects.filter((call) => call.startsWith("Meta"));
const edit = (world: Story, settings: object | null): Promise<unknown> =>
  world.client
    .resource(kinds.cluster)
    .patch(demo, { type: "merge", value: { spec: { controlPlane: { metalSpec: { machineSpec: { meta: settings } } } } } });

/** Where a cluster with one control plane stands once nothing is left to do. */
async function settled(world: Story, cluster: unknown): Promise<void> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady();
  await world.until("up to date", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate");
}

describe("static network settings in META", () => {
  test("are written to each machine with its own address, one control plane after another, and once", () =>
    tell({}, async (world) => {
      await settled(world, withMeta(meta));
      await world.until("written", async () => cps.every((address) => metaOf(world, address) !== undefined));
      for (const address of cps) assert.match(metaOf(world, address) ?? "", new RegExp(`address: "${address}/24"`));
      await world.time.advance(60_000);
      assert.deepEqual(
        written(world).toSorted(),
        cps.map((address) => `MetaWrite ${address}`),
      );
      await assertQuiet(world);
      assert.equal(await world.condition(kinds.controlPlane, "FieldNotSupported"), undefined);
    }));

  test("follow a change of the spec, and are taken out when they leave it and a person accepts that the address goes", () =>
    tell({}, async (world) => {
      await settled(world, withMeta(undefined, ["10.5.0.1"]));
      assert.deepEqual(written(world), []);
      await edit(world, { ...meta, hostname: "first" });
      await world.until("written", async () => metaOf(world, "10.5.0.1")?.includes('hostname: "first"') === true);
      await edit(world, { ...meta, hostname: "second" });
      await world.until("rewritten", async () => metaOf(world, "10.5.0.1")?.includes('hostname: "second"') === true);
      await edit(world, null);
      await world.until("held back", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "HazardFound");
      const { message = "" } = (await world.condition(kinds.controlPlane, "ConfigUpToDate")) ?? {};
      assert.match(message, /^ADDRESS_REMOVED, ROUTE_REMOVED hold back .*demo-10\.5\.0\.1\. META: the address 10\.5\.0\.1 goes away, /);
      await world.time.advance(60_000);
      assert.deepEqual(written(world), ["MetaWrite 10.5.0.1", "MetaWrite 10.5.0.1"]);
      await world.annotate(kinds.controlPlane, "talos-operator.dev/accept-hazard", "ADDRESS_REMOVED,ROUTE_REMOVED");
      await world.until("taken out", async () => metaOf(world, "10.5.0.1") === undefined);
      await world.time.advance(60_000);
      assert.deepEqual(written(world), ["MetaWrite 10.5.0.1", "MetaWrite 10.5.0.1", "MetaDelete 10.5.0.1"]);
      await assertQuiet(world);
    }));

  test("that somebody else changes are reported, and nothing is sent", () =>
    tell({}, async (world) => {
      await settled(world, withMeta(meta, ["10.5.0.1"]));
      await world.until("written", async () => metaOf(world, "10.5.0.1") !== undefined);
      await world.time.advance(10_000);
      await asPerson(world, "10.5.0.1", (client) => client.metaWrite(META_KEYS.metalNetwork, "addresses: []"));
      await world.start();
      await world.until(
        "reported",
        async () => (await world.condition(kinds.controlPlane, "ConfigDrift"))?.reason === "DriftReported",
        600,
      );
      assert.match((await world.condition(kinds.controlPlane, "ConfigDrift"))?.message ?? "", /demo-10\.5\.0\.1: META key 0x0a/);
      assert.deepEqual(written(world), ["MetaWrite 10.5.0.1", "MetaWrite 10.5.0.1"], "the operator's first, then the person's");
    }));

  test("a new operator finds an open intent, looks, and writes no second time what is there", () =>
    tell({}, async (world) => {
      await settled(world, withMeta(undefined, ["10.5.0.1"]));
      await edit(world, meta);
      await world.until("sent", async () => written(world).length > 0, 60);
      await world.kill();
      await world.start();
      await world.until("closed", async () => {
        const spec = (await world.get(kinds.record))?.spec as {
          openControlPlaneIntent?: unknown;
          knownControlPlanes?: readonly { metaHash?: string }[];
        };
        return spec.openControlPlaneIntent === undefined && spec.knownControlPlanes?.[0]?.metaHash !== "none";
      });
      assert.deepEqual(written(world), ["MetaWrite 10.5.0.1"]);
    }));

  test("that cut a machine off stop there: no second machine gets them, and the condition says what to do", () =>
    tell({}, async (world) => {
      await settled(world, withMeta(undefined));
      await edit(world, meta);
      await world.until("written", async () => written(world).length > 0, 60);
      const [, address = ""] = (written(world)[0] ?? "").split(" ");
      world.datacenter.machine(address).setConnected(false);
      await world.until(
        "stopped",
        async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "RolloutStopped",
        600,
      );
      const { message } = (await world.condition(kinds.controlPlane, "ConfigUpToDate")) ?? { message: "" };
      assert.match(
        message,
        new RegExp(`demo-${address}: its META may hold the new static network settings, and its Talos API does not answer`),
      );
      assert.equal(written(world).length, 1);
    }));

  test("that a machine refuses stop the rollout with its words", () =>
    tell({ dialer: (real) => answering(real, "MetaWrite", () => Promise.reject(full)) }, async (world) => {
      await settled(world, withMeta(undefined));
      await edit(world, meta);
      await world.until("refused", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "ConfigRejected");
      assert.match(
        (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.message ?? "",
        /demo-10\.5\.0\.1: it refused them: meta is full/,
      );
      await world.time.advance(600_000);
      assert.deepEqual(
        cps.map((address) => metaOf(world, address)),
        [undefined, undefined, undefined],
      );
    }));

  test("are written before the first configuration where the machine lets strangers do so", () => {
    const order: string[] = [];
    const early: string[] = [];
    const dialer = (real: TalosDialer): TalosDialer =>
      withUnary(real, ({ credentials, channel }) => (method, request, options) => {
        const name = method.path.slice(method.path.lastIndexOf("/") + 1);
        if (name === "MetaWrite" || name === "ApplyConfiguration") order.push(`${credentials.kind} ${name}`);
        if (name !== "MetaWrite" || credentials.kind !== "maintenance") return channel.unary(method, request, options);
        early.push(new TextDecoder().decode((request as machine.MetaWriteRequest).value));
        return Promise.resolve(create(machine.MetaWriteResponseSchema, { messages: [{}] })) as never;
      });
    return tell({ dialer }, async (world) => {
      await settled(world, withMeta(meta, ["10.5.0.1"]));
      assert.deepEqual(order.slice(0, 2), ["maintenance MetaWrite", "maintenance ApplyConfiguration"]);
      assert.match(early[0] ?? "", /10\.5\.0\.1\/24/);
    });
  });

  test("a host name for several machines, and machines that are containers, are told as without effect", () =>
    tell(
      { machines: cps.map((address, index) => ({ address, ...(index === 2 ? { platform: "container" as const } : {}) })) },
      async (world) => {
        await settled(world, withMeta({ ...meta, hostname: "one" }));
        await world.time.advance(60_000);
        assert.deepEqual(written(world).toSorted(), ["MetaWrite 10.5.0.1", "MetaWrite 10.5.0.2"]);
        assert.ok(!(metaOf(world, "10.5.0.1") ?? "").includes("hostname"));
        const { message } = (await world.condition(kinds.controlPlane, "FieldNotSupported")) ?? { message: "" };
        assert.match(message, /spec\.metalSpec\.machineSpec\.meta\.hostname \(of one machine only\)/);
        assert.match(message, /spec\.metalSpec\.machineSpec\.meta of demo-10\.5\.0\.3 \(a container has no META\)/);
      },
    ));

  test("that would cut machines off stop everything before a machine hears of it", () =>
    tell({}, async (world) => {
      await apply(world, kinds.cluster, withMeta({ ...meta, gateway: "10.6.0.1" }));
      await world.start();
      await assertStoppedBy(world, kinds.cluster, { reason: "InvalidConfig", says: /meta\.gateway.*10\.6\.0\.1 is not in the network/ });
    }));
});

const full = Object.assign(new Error("meta is full"), { name: "TalosCallFailure", code: 3 });

/** Machines that answer one call otherwise. */
function answering(real: TalosDialer, name: string, answer: () => Promise<never>): TalosDialer {
  return withUnary(
    real,
    ({ channel }) =>
      (method, request, options) =>
        method.path.endsWith(`/${name}`) ? answer() : channel.unary(method, request, options),
  );
}
