import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crds } from "@talos-operator/api";
import { publishedCrds } from "@talos-operator/api/testing";
import { conditionOf, nestedCluster, tellComposition } from "./composition.ts";
import { assertQuiet } from "./quiet.ts";
import { kinds } from "./story.ts";

const foreign = publishedCrds();
const names = new Set(foreign.map(({ spec }) => spec.names.kind));
const mixed = [...crds.filter(({ spec }) => !names.has(spec.names.kind)), ...foreign];

const group = {
  machineClass: "small",
  provider: "proxmox",
  storage: [],
  metadata: { annotations: {}, labels: {} },
  replicas: 1,
  version: "v1.36.3",
};

describe("a KubernetesCluster where somebody else has installed the kinds", () => {
  test("runs all the same: Machines without talosConfig, a status of the published fields, and then quiet (A037, V14)", () =>
    tellComposition({ crds: mixed, operator: { clusterDefaults: { endpointMode: "none" } } }, async (world) => {
      const cluster = nestedCluster({ networkNamespaceName: "net" });
      const autoscaling = { enabled: false, minReplicas: 1, maxReplicas: 1, scalingRules: [] };
      const { data } = (cluster as unknown as { readonly spec: Record<string, unknown> }).spec;
      await world.client.resource(kinds.kubernetesCluster).create({
        ...cluster,
        spec: {
          data,
          topology: {
            version: "v1.36.3",
            controlplane: group,
            workers: { nodePools: [{ ...group, name: "workers", autoscaling, taint: [] }] },
          },
        },
      } as never);
      await world.start();
      await world.until("Ready", async () => conditionOf(await world.cluster(), "Ready")?.status === "True", 600);
      assert.deepEqual(await world.machineNames(), ["demo-cp-0", "demo-workers-0"]);
      const machine = await world.client.resource(kinds.vitistackMachine).get({ namespace: "default", name: "demo-cp-0" });
      assert.equal((machine as { readonly spec?: { readonly talosConfig?: unknown } }).spec?.talosConfig, undefined);
      const { status } = (await world.cluster()) ?? {};
      assert.deepEqual([status?.phase, status?.workers, status?.machineCount], ["Ready", 1, undefined]);
      assert.match(status?.conditions.find(({ type }) => type === "MachinesCreated")?.message ?? "", /drops spec\.talosConfig/);
      await world.time.advance(120_000);
      await assertQuiet(world);
    }));
});
