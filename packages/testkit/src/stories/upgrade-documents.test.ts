import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { demoTimings } from "@talos-operator/simulator";
import { demoCluster, kinds, tell } from "./story.ts";
import { all, ask, cps, edit, failed, pending, ready, settled, upgraded, versionAt, versions, workers } from "./upgrades.ts";
import type { Story } from "./story.ts";

const BEFORE = "v1.13.9";
const NEXT = "v1.14.0";
/** As Talos up to 1.13 has it, and every later one still reads. */
const oldLabel = { machine: { nodeLabels: { "example.org/rack": "a" } } };
/** A document that Talos has since 1.14. */
const newDocument = { apiVersion: "v1alpha1", kind: "SysctlConfig", params: { "net.core.somaxconn": "1024" } };

const patches = (...configPatches: readonly object[]): object => ({ metalSpec: { machineSpec: { configPatches } } });
const both = (pool: object): object => ({ controlPlane: pool, worker: pool });
const configAt = (world: Story, address: string): string => world.datacenter.machine(address).state.config.persisted ?? "";
const withDocument = (world: Story, addresses = all): readonly string[] =>
  addresses.filter((address) => configAt(world, address).includes("SysctlConfig"));

/** Until every machine has the document, watching that none gets it while any machine runs the Talos of before. */
async function documentsFollow(world: Story, addresses = all): Promise<void> {
  await world.until(
    "the document is everywhere",
    async () => {
      const have = withDocument(world, addresses);
      if (versions(world, addresses).includes(BEFORE)) assert.deepEqual(have, [], "no machine gets what the Talos of before cannot read");
      return have.length === addresses.length;
    },
    3_600,
  );
}

describe("settings that the Talos of before cannot read", () => {
  test("come with the version in one edit: the upgrade goes first, and they follow when it has ended", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await edit(world, both({ version: NEXT, ...patches(newDocument) }));
      await world.until("told", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "Waiting", 600);
      assert.match(
        (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.message ?? "",
        /may go back to, a Talos that cannot read it: demo-10\.5\.0\.1 \(Talos v1\.13\.9 does not read it: configPatches\[0\]: /,
      );
      await documentsFollow(world);
      await settled(world);
      assert.deepEqual(versions(world), [NEXT]);
      assert.equal((await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason, "UpToDate");
    }));

  test("are added in the middle of a run: machines that are through wait for the others", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, NEXT);
      await world.until("one is through", async () => versionAt(world, "10.5.0.2") === NEXT, 900);
      await edit(world, both(patches(newDocument)));
      await documentsFollow(world);
      await settled(world);
    }));

  test("are sent to nobody when the version fails, and the machine that goes back reads what it has", () =>
    tell({ timings: demoTimings }, async (world) => {
      world.datacenter.setReleaseFault(NEXT, { boot: "never-healthy" });
      await ready(world);
      await edit(world, both({ version: NEXT, ...patches(newDocument) }));
      await failed(world);
      await world.time.advance(600_000);
      assert.deepEqual([withDocument(world), versions(world)], [[], [BEFORE]]);
      assert.equal((await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason, "Waiting");
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
      await edit(world, both({ version: BEFORE, ...patches(oldLabel) }));
      await world.until("labelled", async () => all.every((address) => configAt(world, address).includes("example.org/rack")), 1_800);
      await settled(world);
    }));

  test("hold up no machine that joins meanwhile, nor the run for that machine", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await edit(world, both({ version: NEXT, ...patches(newDocument) }));
      await world.until("begun", async () => world.sent.some((call) => call.startsWith("Upgrade ")), 600);
      const two = [...workers, "10.5.0.5"];
      await edit(world, { worker: { metalSpec: { machines: two.map((address) => ({ address })) } } });
      await world.until("the machines of before are through", async () => versions(world).join() === NEXT, 3_600);
      await documentsFollow(world);
      const { message = "" } = (await world.condition(kinds.cluster, "Ready")) ?? {};
      // It booted Talos 1.13, which takes no configuration with the document.
      assert.match(
        message,
        /demo-10\.5\.0\.5: Talos v1\.13\.9, which is to read its configuration, cannot: .*Boot it with Talos v1\.14\.0/,
      );
    }));
});

describe("patches that are written for the Talos of before", () => {
  test("stay as they are over an upgrade that has another place for them, also for machines that join after it", () =>
    tell({ timings: demoTimings }, async (world) => {
      const cluster = demoCluster(cps, workers);
      const patched = { ...patches(oldLabel, { cluster: { proxy: { disabled: true } } }) };
      await ready(world, cluster);
      await edit(world, both(patched));
      await world.until("labelled", async () => all.every((address) => configAt(world, address).includes("example.org/rack")), 1_800);
      await settled(world);
      assert.equal(
        ((await world.get(kinds.worker)) as { status?: { configContract?: string } } | undefined)?.status?.configContract,
        "1.13",
      );
      await ask(world, NEXT);
      await upgraded(world, NEXT);
      const two = [...workers, "10.5.0.5"];
      await edit(world, { worker: { metalSpec: { machines: two.map((address) => ({ address })) } } });
      await world.until("joined", async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.5"))?.status === "True", 1_800);
      assert.equal(versionAt(world, "10.5.0.5"), NEXT);
      assert.match(configAt(world, "10.5.0.5"), /nodeLabels:\n\s+example\.org\/rack: a/);
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
    }));

  test("are refused in a cluster that is made with the next one, with the document that has their place", () =>
    tell({}, async (world) => {
      const cluster = demoCluster(cps, []);
      const spec = cluster.spec as { controlPlane: object };
      await world.client.resource(kinds.cluster).create({
        ...cluster,
        spec: { ...spec, controlPlane: { ...spec.controlPlane, version: NEXT, ...merged(spec.controlPlane, oldLabel) } },
      } as never);
      await world.start();
      await world.until("told", async () => (await world.condition(kinds.cluster, "Ready"))?.reason === "InvalidConfig", 120);
      assert.deepEqual(world.sent, []);
    }));
});

test("a Talos that does not read what the configurations are written for is refused, whatever a person allows", () =>
  tell({ timings: demoTimings, machines: all.map((address) => ({ address, talosVersion: NEXT })) }, async (world) => {
    const cluster = demoCluster(cps, workers) as unknown as { spec: { controlPlane: object; worker: object } };
    const made = {
      ...cluster,
      spec: { controlPlane: { ...cluster.spec.controlPlane, version: NEXT }, worker: { ...cluster.spec.worker, version: NEXT } },
    };
    const sent = await ready(world, made as never);
    await world.annotate(kinds.controlPlane, annotations.allowDowngrade, BEFORE);
    await ask(world, BEFORE);
    await world.until("refused", async () => (await pending(world))?.status === "True", 300);
    assert.match(
      (await pending(world))?.message ?? "",
      /the configuration \(demo-10\.5\.0\.1, .*\) is written for Talos 1\.14, which v1\.13\.9 does not read/i,
    );
    await world.time.advance(600_000);
    assert.deepEqual([world.sent.length, versions(world)], [sent, [NEXT]]);
  }));

function merged(pool: object, patch: object): object {
  const { metalSpec } = pool as { readonly metalSpec: { readonly machineSpec?: object } };
  return { metalSpec: { ...metalSpec, machineSpec: { ...metalSpec.machineSpec, configPatches: [patch] } } };
}
