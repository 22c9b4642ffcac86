import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { bundleOf, putConfigs, reference, writtenCluster, writtenConfig } from "./written-configs.ts";

const closed = { apiVersion: "v1alpha1", kind: "NetworkDefaultActionConfig", ingress: "block" };
const rule = (subnet: string, port: number): object => ({
  apiVersion: "v1alpha1",
  kind: "NetworkRuleConfig",
  name: `port-${port}`,
  portSelector: { ports: [port], protocol: "tcp" },
  ingress: [{ subnet }],
});

async function untilStopped(world: Story, address: string): Promise<void> {
  const name = `demo-${address}`;
  await world.until("stopped", async () => (await world.condition(kinds.machine, "Ready", name))?.reason === "InvalidConfig", 60);
  const { message = "" } = (await world.condition(kinds.machine, "Ready", name)) ?? {};
  assert.match(message, /TALOS_API_BLOCKED.*not sent.*NetworkDefaultActionConfig ingress: .*50000.*annotate Talos/);
  await world.time.advance(30_000);
  assert.deepEqual(
    world.sent.filter((call) => call === `ApplyConfiguration ${address}`),
    [],
  );
}

describe("a firewall without a way in to the Talos API", () => {
  for (const [what, patches] of [
    ["no rule at all", [closed]],
    ["a rule for another port", [closed, rule("0.0.0.0/0", 6443)]],
    ["a rule for addresses of the other family", [closed, rule("::/0", 50_000)]],
  ] as const)
    test(`reaches no new worker, and the rest of the cluster goes on: ${what}`, () =>
      tell({}, async (world) => {
        const made = demoCluster(["10.5.0.1"], ["10.5.0.4", "10.5.0.5"]);
        const [first, second] = made.spec?.worker?.metalSpec?.machines ?? [];
        Object.assign(made.spec?.worker?.metalSpec ?? {}, { machines: [{ ...first, configPatches: patches }, second] });
        await apply(world, kinds.cluster, made);
        await world.start();
        await untilStopped(world, "10.5.0.4");
        assert.ok(world.sent.includes("ApplyConfiguration 10.5.0.5"));
        assert.equal((await world.condition(kinds.worker, "Ready"))?.reason, "InvalidConfig");
        assert.equal((await world.condition(kinds.cluster, "Bootstrapped"))?.status, "True");
        const machines = made.spec?.worker?.metalSpec?.machines?.map(({ address }) => ({ address }));
        await world.client
          .resource(kinds.cluster)
          .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { worker: { metalSpec: { machines } } } } });
        await world.untilReady();
      }));

  test("reaches no new control plane whose whole config a person wrote", () =>
    tell({}, async (world) => {
      await putConfigs(world, { "controlplane.yaml": writtenConfig("controlplane", await bundleOf(world), closed) });
      await apply(world, kinds.cluster, writtenCluster(reference("controlplane.yaml")));
      await world.start();
      await untilStopped(world, "10.5.0.1");
    }));

  test("reaches a new worker when a person accepts it, whose word acts once", () =>
    tell({}, async (world) => {
      const made = demoCluster(["10.5.0.1"], ["10.5.0.4"]);
      Object.assign(made.spec?.worker?.metalSpec?.machineSpec ?? {}, { configPatches: [closed] });
      await apply(world, kinds.cluster, made);
      await world.start();
      await untilStopped(world, "10.5.0.4");
      await world.annotate(kinds.worker, "talos-operator.dev/accept-hazard", "TALOS_API_BLOCKED");
      await world.until("sent", async () => world.sent.includes("ApplyConfiguration 10.5.0.4"), 60);
      assert.equal((await world.get(kinds.worker))?.metadata?.annotations?.["talos-operator.dev/accept-hazard"], undefined);
    }));

  test("is none where a rule lets somebody in whom nobody but the network can tell from this operator", () =>
    tell({}, async (world) => {
      const made = demoCluster(["10.5.0.1"], ["10.5.0.4"]);
      Object.assign(made.spec?.worker?.metalSpec?.machineSpec ?? {}, { configPatches: [closed, rule("10.5.0.0/24", 50_000)] });
      await apply(world, kinds.cluster, made);
      await world.start();
      await world.untilReady();
    }));
});
