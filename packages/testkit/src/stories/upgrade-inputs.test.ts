import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const address = "10.5.0.1";
const place = { namespace: "default", name: "talos-operator-releases" };
const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

async function ready(world: Story, controlPlane: object): Promise<void> {
  const { spec, ...rest } = demoCluster([address]);
  await apply(world, kinds.cluster, { ...rest, spec: { ...spec, controlPlane: { ...spec?.controlPlane, ...controlPlane } } });
  await world.start();
  await world.untilReady();
}

const ask = (world: Story, controlPlane: object): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec: { controlPlane } } });
const pending = async (world: Story): Promise<string> => (await world.condition(kinds.controlPlane, "UpgradePending"))?.message ?? "";
const says = (world: Story, words: RegExp): Promise<void> =>
  world.until(`it says ${words.source}`, async () => words.test(await pending(world)), 300);

describe("a plan of an upgrade", () => {
  test("goes by the releases that a ConfigMap names, and by the built-in ones where it cannot be used", () =>
    tell({ machines: [{ address, talosVersion: "v1.12.11" }], operator: { releases: place } }, async (world) => {
      const write = (text: string): Promise<unknown> =>
        world.client.resource(configMaps).patch(place, { type: "merge", value: { data: { "releases.yaml": text } } });
      await ready(world, { version: "v1.12.11", kubeVersion: "v1.33.6" });
      // With a hop of Kubernetes nothing of it begins.
      await ask(world, { version: "v1.14.0", kubeVersion: "v1.34.1" });
      await says(world, /Talos v1\.12\.11 → v1\.13\.9 → v1\.14\.0/);
      await world.client.resource(configMaps).create({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: place,
        data: { "releases.yaml": "talos:\n  - release: v1.13.40\n" },
      } as KubeObject);
      await says(world, /Talos v1\.12\.11 → v1\.13\.40 → v1\.14\.0/);
      await write("talos:\n  - release: newest\n");
      await says(
        world,
        /v1\.12\.11 → v1\.13\.9 → v1\.14\.0.*\. ConfigMap default\/talos-operator-releases is not understood \(.*"newest" is no version/,
      );
      await write("talos:\n  - release: v1.13.41\n");
      await says(world, /Talos v1\.12\.11 → v1\.13\.41 → v1\.14\.0/);
    }));

  test("loses no extensions: an installer without the schematic that runs is refused", () =>
    tell({}, async (world) => {
      const schematic = "5".repeat(64);
      await ready(world, {
        metalSpec: { machines: [{ address }], machineSpec: { image: `factory.talos.dev/metal-installer/${schematic}` } },
      });
      assert.equal(world.datacenter.machine(address).state.schematic, schematic);
      await ask(world, { version: "v1.14.0", metalSpec: { machineSpec: { image: null } } });
      await says(world, new RegExp(`[Nn]o way leads there: the installer that is asked for lacks what the schematic ${schematic} brings`));
      await ask(world, { kubeVersion: "v1.36.4", metalSpec: { machineSpec: { image: `factory.talos.dev/metal-installer/${schematic}` } } });
      await says(world, /[Ii]n 2 hops: Talos v1\.13\.9 → v1\.14\.0, Kubernetes v1\.36\.3 → v1\.36\.4/);
    }));
});
