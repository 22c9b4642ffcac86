import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeTransport } from "@talos-operator/ports";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const label = { machine: { nodeLabels: { "example.org/rack": "r1" } } };

/** Fails what `fails` names, as a server does that is too busy. */
function busy(real: KubeTransport, fails: (method: string, path: string, isBefore: boolean) => boolean): KubeTransport {
  const answer = { status: 503, headers: {}, body: { kind: "Status", apiVersion: "v1", status: "Failure", code: 503, message: "busy" } };
  return {
    ...real,
    send: async (request, options) => {
      if (fails(request.method, request.path, true)) return answer;
      const given = await real.send(request, options);
      return fails(request.method, request.path, false) ? answer : given;
    },
    watch: (request, options) => real.watch(request, options),
    close: () => real.close(),
  };
}

/** Until the cluster is Ready and what it runs was read. */
async function settle(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.3"], ["10.5.0.4"]));
  await world.start();
  await world.untilReady();
  await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
  await world.time.advance(5_000);
}

for (const [when, isBefore] of [
  ["is read before the send", true],
  ["was written with the intent", false],
] as const)
  test(`the API fails while the record ${when}: nothing was sent, so nothing is waited for`, async () => {
    let failsUntil = 0;
    let isArmed = false;
    let now = (): number => 0;
    const fails = (method: string, path: string, before: boolean): boolean => {
      if (!path.includes("/clusterrecords") || before !== isBefore || method !== (isBefore ? "GET" : "PATCH")) return false;
      if (isArmed && !isBefore) {
        isArmed = false;
        return true;
      }
      return now() < failsUntil;
    };
    await tell({ kube: (real) => busy(real, fails) }, async (world) => {
      now = () => world.time.now();
      await settle(world);
      isArmed = true;
      if (isBefore) failsUntil = world.time.now() + 20_000;
      const spec = { worker: { metalSpec: { machineSpec: { configPatches: [label] } } } };
      await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
      await world.time.advance(80_000);
      assert.deepEqual(world.sent.slice(-2), ["ApplyConfiguration 10.5.0.4", "ApplyConfiguration 10.5.0.4"]);
      const { config } = world.datacenter.machine("10.5.0.4").state;
      assert.match(config.persisted ?? "", /example\.org\/rack/);
    });
  });
