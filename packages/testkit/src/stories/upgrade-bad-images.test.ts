import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { annotations } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { demoTimings } from "@talos-operator/simulator";
import { common, machine, methodOf } from "@talos-operator/talos/protocol";
import { asPerson } from "./as-person.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import { all, ask, cps, pending, ready as readyOf, settled, workers } from "./upgrades.ts";
import type { Story } from "./story.ts";

const one = "1".repeat(64);
const two = "2".repeat(64);
const factory = (schematic: string): string => `factory.talos.dev/metal-installer/${schematic}`;

function ready(world: Story): Promise<number> {
  const over = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" as const };
  const cluster = demoCluster(cps, workers);
  const { controlPlane, worker } = cluster.spec ?? {};
  const machineSpec = { image: factory(one) };
  return readyOf(world, {
    ...cluster,
    spec: {
      controlPlane: { ...controlPlane, ...over, metalSpec: { ...controlPlane?.metalSpec, machineSpec } },
      worker: { ...worker, ...over, metalSpec: { ...worker?.metalSpec, machineSpec } },
    },
  });
}

const told = (world: Story, says: RegExp, type = "UpgradePending"): Promise<void> =>
  world.until(
    `${type} says ${says.source}`,
    async () => says.test((await world.condition(kinds.controlPlane, type))?.message ?? ""),
    1_800,
  );
const record = async (world: Story): Promise<ClusterRecord | undefined> =>
  (await world.get(kinds.record)) as unknown as ClusterRecord | undefined;
const runs = (world: Story): readonly string[] => [
  ...new Set(
    all.map((address) => {
      const { hardware, schematic = "none" } = world.datacenter.machine(address).state;
      return `${hardware.talosVersion} ${schematic.slice(0, 4)}`;
    }),
  ),
];

describe("an image that cannot be had", () => {
  for (const [what, version, image, says] of [
    ["that no registry has", "v1.13.10", "missing", /could not be pulled: the registry has none of that name and version/],
    ["of another architecture", "v1.13.9", "other-platform", /could not be pulled: it is not built for the processor of this machine/],
    [
      "with an extension that does not exist",
      "v1.13.10",
      "unbuildable",
      /could not be pulled: .*talosctl dmesg.*an extension that this Talos lacks.*400/,
    ],
    ["in a registry that does not answer", "v1.13.9", "stuck", /could not be pulled: .*talosctl dmesg.*it does not reach the registry/],
  ] as const)
    test(`one ${what} is told in a person's words, and nothing else happens`, () =>
      tell({ timings: demoTimings }, async (world) => {
        const sent = await ready(world);
        world.datacenter.setReleaseFault(version, { image, schematic: two });
        await ask(world, { version, image: factory(two) });
        await told(world, says);
        await world.time.advance(900_000);
        assert.match((await pending(world))?.message ?? "", says);
        assert.deepEqual([...new Set(world.sent.slice(sent))], ["Pull 10.5.0.2"]);
        assert.deepEqual(runs(world), ["v1.13.9 1111"]);
        assert.equal((await record(world))?.spec.quarantine, undefined);
        assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
        // Neither the version nor another image of it has to do with that.
        await ask(world, { image: factory("3".repeat(64)) });
        await world.until("all run it", async () => runs(world).join() === `${version} 3333`, 3_600);
        await settled(world);
      }));

  test("one that is not on the machine any more when it is to be installed is pulled again, and is not blamed", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, { image: factory(two) });
      await world.until("pulled", async () => world.sent.slice(sent).includes("Pull 10.5.0.2"), 300);
      await world.annotate(kinds.cluster, annotations.reconcileMode, "disable");
      await world.time.advance(60_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2"]);
      await asPerson(world, "10.5.0.2", async (_client, channel) => {
        const images = world.datacenter.machine("10.5.0.2").state.images ?? [];
        const containerd = { driver: common.ContainerDriver.CRI, namespace: common.ContainerdNamespace.NS_SYSTEM };
        for (const { name } of images.filter(({ name: one }) => one.includes(two))) {
          const request = create(machine.ImageServiceRemoveRequestSchema, { containerd, imageRef: name });
          await channel.unary(methodOf(machine.ImageService.method.remove), request, { timeoutMs: 10_000 });
        }
      });
      await world.annotate(kinds.cluster, annotations.reconcileMode, undefined);
      await world.until("all run it", async () => runs(world).join() === "v1.13.9 2222", 3_600);
      await settled(world);
      assert.deepEqual(
        world.sent.slice(sent).filter((call) => /^(Pull|Upgrade) 10\.5\.0\.2$/.test(call)),
        ["Pull", "Upgrade", "Pull", "Upgrade"].map((call) => `${call} 10.5.0.2`),
      );
      assert.equal((await record(world))?.spec.quarantine, undefined);
    }));

  test("one from a registry that this operator takes none from is told, and nothing is sent", () =>
    tell({ timings: demoTimings, operator: { installerRegistries: ["factory.talos.dev"] } }, async (world) => {
      const sent = await ready(world);
      await ask(world, { image: `registry.example.org/metal-installer/${two}` });
      await world.until(
        "told",
        async () =>
          JSON.stringify((await world.get(kinds.cluster))?.status ?? {}).includes(
            "from a registry that this operator takes no installer from",
          ),
        300,
      );
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent);
    }));
});
