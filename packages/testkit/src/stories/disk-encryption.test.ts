import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const worker = "10.5.0.4";
const first = { static: { passphrase: "one" }, slot: 0 };
const second = { static: { passphrase: "two" }, slot: 1 };
const encrypted = (name: string, ...keys: readonly object[]): object => ({
  apiVersion: "v1alpha1",
  kind: "VolumeConfig",
  name,
  encryption: { provider: "luks2", keys },
});
const legacy = { machine: { systemDiskEncryption: { ephemeral: { provider: "luks2", keys: [first] } } } };
const label = { machine: { nodeLabels: { "example.org/rack": "r1" } } };

function cluster(...configPatches: readonly object[]): TalosCluster {
  const made = demoCluster(["10.5.0.1"], [worker]);
  const metalSpec = made.spec?.worker?.metalSpec;
  Object.assign(metalSpec ?? {}, { machineSpec: { ...metalSpec?.machineSpec, configPatches } });
  return made;
}

async function edit(world: Story, ...configPatches: readonly object[]): Promise<void> {
  const { spec } = cluster(...configPatches);
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

async function running(world: Story, ...configPatches: readonly object[]): Promise<void> {
  await apply(world, kinds.cluster, cluster(...configPatches));
  await world.start();
  await world.untilReady();
}

const configOf = (world: Story): string => world.datacenter.machine(worker).state.config.active ?? "";
const said = async (world: Story): Promise<string> => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.message ?? "";
const isUp = (world: Story): boolean => world.datacenter.machine(worker).state.stage === "running";

describe("encryption of a volume that runs without", () => {
  for (const [how, patch, volume] of [
    ["a document", encrypted("EPHEMERAL", first), "EPHEMERAL"],
    ["a document of STATE", encrypted("STATE", first), "STATE"],
    ["the old form", legacy, "EPHEMERAL"],
  ] as const)
    test(`is not sent, and the rest of the edit is: ${how}`, () =>
      tell({}, async (world) => {
        await running(world);
        const [found] = await whatIf([cluster(patch, label)], {
          client: world.client,
          now: world.time.now(),
          hosts: { allowLoopback: false },
        });
        const words = `The encryption of ${volume} of TalosWorker demo is not sent`;
        assert.ok(found !== undefined && printPlan(found.plan).includes(words), found === undefined ? "" : printPlan(found.plan));
        await edit(world, patch, label);
        await world.until("sent", () => Promise.resolve(configOf(world).includes("example.org/rack")), 180);
        await world.until("said", async () => (await said(world)).includes(words), 60);
        assert.ok((await said(world)).includes("Recreate"), await said(world));
        assert.ok(!configOf(world).includes("luks2"));
        await world.time.advance(600_000);
        assert.ok(isUp(world) && !configOf(world).includes("luks2"));
        await edit(world, label);
        await world.until("up to date", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True", 180);
      }));
});

describe("an encrypted volume", () => {
  test("keeps its encryption where the spec no longer asks for it", () =>
    tell({}, async (world) => {
      await running(world, encrypted("EPHEMERAL", first));
      await edit(world, label);
      await world.until("sent", () => Promise.resolve(configOf(world).includes("example.org/rack")), 180);
      await world.until("said", async () => (await said(world)).includes("The end of the encryption of EPHEMERAL of TalosWorker demo"), 60);
      await world.time.advance(600_000);
      assert.ok(isUp(world) && configOf(world).includes("luks2"));
    }));

  test("gets a further key, then loses the first, and opens at each boot", () =>
    tell({}, async (world) => {
      await running(world, encrypted("EPHEMERAL", first));
      for (const keys of [[first, second], [second]]) {
        const boots = world.datacenter.machine(worker).state.bootCount;
        await edit(world, encrypted("EPHEMERAL", ...keys));
        await world.until("booted", () => Promise.resolve(world.datacenter.machine(worker).state.bootCount > boots), 600);
        await world.untilReady();
        assert.ok(isUp(world));
      }
      assert.ok(!configOf(world).includes("passphrase: one"));
    }));

  test("keeps its key where all of them would change at once", () =>
    tell({}, async (world) => {
      await running(world, encrypted("EPHEMERAL", first));
      await edit(world, encrypted("EPHEMERAL", second));
      await world.until(
        "said",
        async () => (await said(world)).includes("The change of all keys of EPHEMERAL of TalosWorker demo is not sent"),
        180,
      );
      await world.time.advance(600_000);
      assert.ok(isUp(world) && configOf(world).includes("passphrase: one"));
    }));
});

test("a machine whose volumes are new is encrypted from the first", () =>
  tell({}, async (world) => {
    await running(world, encrypted("STATE", first), encrypted("EPHEMERAL", first));
    assert.ok(configOf(world).includes("luks2"));
  }));
