import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kstatus } from "@talos-operator/operator/testing";
import { demoTimings } from "@talos-operator/simulator";
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
      await says(world, new RegExp(`[Nn]o upgrade path: the installer that is asked for lacks what the schematic ${schematic} brings`));
      await ask(world, { kubeVersion: "v1.36.4", metalSpec: { machineSpec: { image: `factory.talos.dev/metal-installer/${schematic}` } } });
      await says(world, /[Ii]n 2 hops: Talos v1\.13\.9 → v1\.14\.0, Kubernetes v1\.36\.3 → v1\.36\.4/);
    }));
});

describe("a machine that an upgrade leaves alone until a person does something", () => {
  const tools = async (world: Story): Promise<readonly string[]> =>
    Promise.all(
      [kinds.cluster, kinds.controlPlane].map(async (type) => {
        const found = await world.get(type);
        return found === undefined ? "" : `${kstatus(found)} ${(await world.condition(type, "Stalled"))?.message ?? ""}`;
      }),
    );
  const stalled = (world: Story, words: RegExp): Promise<void> =>
    world.until(
      `tools read ${words.source}`,
      async () => (await tools(world)).every((told) => told.startsWith("Failed") && words.test(told)),
      300,
    );

  test("is Failed to Flux and Argo CD, with what releases it, and goes on by that", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world, {});
      const sent = world.sent.length;
      const image = (reference: string | null, more: object = {}): Promise<unknown> =>
        ask(world, { ...more, metalSpec: { machineSpec: { image: reference } } });
      const pause = (mode: string | null): Promise<unknown> =>
        world.client
          .resource(kinds.machine)
          .patch(
            { namespace: "default", name: `demo-${address}` },
            { type: "merge", value: { metadata: { annotations: { "talos.alperen.cloud/reconcile-mode": mode } } } },
          );
      await image("ghcr.io/siderolabs/installer:v1.13.9", { version: "v1.13.10" });
      await stalled(world, /demo-10\.5\.0\.1 is next: its installer .* is not that of v1\.13\.10/);
      await image(`ghcr.io/siderolabs/installer@sha256:${"a".repeat(64)}`);
      await stalled(world, /demo-10\.5\.0\.1 is next: its installer .* by a digest alone/);
      await pause("disable");
      await image(null);
      await stalled(world, /demo-10\.5\.0\.1 is next: it is paused/);
      assert.deepEqual(world.sent.slice(sent), []);
      await pause(null);
      await world.until("it runs", async () => world.datacenter.machine(address).state.hardware.talosVersion === "v1.13.10", 600);
      await world.until("tools take it for done", async () => (await tools(world)).every((told) => told === "Current "), 300);
    }));
});
