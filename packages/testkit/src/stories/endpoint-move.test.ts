// Another endpoint for a cluster that runs: asked first, then control planes, then clients and workers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { describeMachineConfig } from "@talos-operator/talos";
import type { MachineConfigFacts } from "@talos-operator/talos";
import { conditionOf, flatCluster, tellComposition } from "./composition.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { all, cps, edit, killed, ready, sentTo, workers } from "./upgrades.ts";
import { bundleOf, putConfigs, writtenCluster, writtenConfig, writtenEndpoint } from "./written-configs.ts";

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const OLD = "https://shop.example:6443";
const NEW = "https://api.example:6443";
/** Behind both names are the control planes, as behind load balancers. */
const names = new Map<string, readonly string[]>([
  ["shop.example", cps],
  ["api.example", cps],
]);

const configAt = (world: Story, address: string): MachineConfigFacts =>
  describeMachineConfig(world.datacenter.machine(address).state.config.active ?? "");

const endpointsAt = (world: Story, addresses = all): readonly string[] =>
  addresses.map((address) => configAt(world, address).endpoint ?? "");

const stateOf = async (world: Story, kind: keyof typeof kinds = "cluster"): Promise<string> => {
  const condition = await world.condition(kinds[kind], "EndpointUpToDate");
  return condition === undefined ? "as asked" : `${condition.status} ${condition.reason}`;
};

const kubeconfigOf = async (world: Story): Promise<string> => {
  const secret = await world.client.resource<Secret>(kinds.secret).tryGet({ namespace: "default", name: "demo-kubeconfig" });
  return Buffer.from(secret?.data?.["kubeconfig"] ?? "", "base64").toString("utf8");
};

/** Waits for it and notes on the way whether the cluster was ever not ready. */
async function untilWhileReady(world: Story, what: string, holds: () => Promise<boolean>, seconds = 1_800): Promise<void> {
  const told = new Set<string>();
  const note = async (): Promise<boolean> => {
    for (const kind of ["cluster", "controlPlane"] as const) {
      const condition = await world.condition(kinds[kind], "Ready");
      told.add(`${kind} ${condition?.status} ${condition?.reason}`);
      told.add(`${kind} reaches ${(await world.condition(kinds[kind], "EndpointReachable"))?.status}`);
    }
    return holds();
  };
  await world.until(what, note, seconds);
  // A kubelet starts anew with its endpoint.
  const unready = [...told].filter((one) => !one.includes(" True") && one !== "controlPlane False Restarting");
  assert.deepEqual(unready, [], `while waiting for ${what}`);
}

const moved = async (world: Story, url: string): Promise<boolean> =>
  endpointsAt(world).every((one) => one === url) &&
  (await stateOf(world)) === "as asked" &&
  (await kubeconfigOf(world)).includes(`server: ${url}`) &&
  (await world.condition(kinds.cluster, "Progressing"))?.reason === "Settled";

describe("another endpoint for a running cluster", () => {
  test("that leads nowhere changes nothing and is named with its cure; the right one reaches every machine, and the cluster is ready all along", () =>
    tell({ names }, async (world) => {
      const sent = await ready(world, demoCluster(cps, workers, { endpoint: OLD }));
      await edit(world, { controlPlane: { endpoint: "https://apu.example:6443" } });
      await untilWhileReady(world, "told", async () => (await stateOf(world)) === "False NotReached");
      await world.time.advance(120_000);
      assert.equal(await stateOf(world), "False NotReached");
      const { message = "" } = (await world.condition(kinds.cluster, "EndpointUpToDate")) ?? {};
      assert.match(message, /https:\/\/apu\.example:6443 does not lead to this cluster: its name does not resolve\. Create a DNS record/);
      assert.match(message, /The cluster keeps https:\/\/shop\.example:6443\./);
      assert.equal((await world.condition(kinds.cluster, "Progressing"))?.reason, "Blocked");
      assert.equal(world.sent.length, sent);
      await edit(world, { controlPlane: { endpoint: NEW } });
      await untilWhileReady(world, "moved", () => moved(world, NEW));
      for (const address of cps) {
        const { apiServerCertSans } = configAt(world, address);
        assert.ok(apiServerCertSans.includes("shop.example") && apiServerCertSans.includes("api.example"), apiServerCertSans.join());
        assert.match(world.datacenter.machine(address).state.config.active ?? "", /service-account-issuer: https:\/\/shop\.example:6443/);
      }
      const order = [...new Set(sentTo(world, sent, "ApplyConfiguration"))];
      assert.deepEqual(order, all, "control planes one after the other, then workers");
      const record = (await world.get(kinds.record))?.spec;
      assert.deepEqual([record?.["endpoint"], record?.["nextEndpoint"], record?.["formerEndpoints"]], [NEW, undefined, [OLD]]);
      // And back: the host in between stays in the certificates, too.
      await edit(world, { controlPlane: { endpoint: OLD } });
      await untilWhileReady(world, "moved back", () => moved(world, OLD));
      assert.ok(configAt(world, cps[0] ?? "").apiServerCertSans.includes("api.example"));
    }));

  test("behind which another cluster answers changes nothing", () =>
    tell({ names: new Map([...names, ["other.example", ["10.5.0.5"]]]) }, async (world) => {
      const other = demoCluster(["10.5.0.5"], [], { endpoint: "https://other.example:6443" });
      await apply(world, kinds.cluster, { ...other, metadata: { ...other.metadata, name: "other" } });
      const sent = await ready(world, demoCluster(cps, workers, { endpoint: OLD }));
      await edit(world, { controlPlane: { endpoint: "https://other.example:6443" } });
      await untilWhileReady(world, "told", async () => (await stateOf(world)) === "False NotReached");
      await world.time.advance(60_000);
      assert.equal(sentTo(world, sent, "ApplyConfiguration").filter((address) => all.includes(address)).length, 0);
      const { message = "" } = (await world.condition(kinds.controlPlane, "EndpointUpToDate")) ?? {};
      assert.match(message, /another authority signed its certificate/);
    }));

  test("is carried out by operators that die every three seconds, too", () =>
    tell({ names }, async (world) => {
      await ready(world, demoCluster(cps, workers, { endpoint: OLD }));
      await edit(world, { controlPlane: { endpoint: NEW } });
      await killed(world, 3_000, 20);
      await world.until("moved", () => moved(world, NEW), 1_800);
    }));

  test("that is taken back half-way leaves every machine with the one before", () =>
    tell({ names }, async (world) => {
      await ready(world, demoCluster(cps, workers, { endpoint: OLD }));
      await edit(world, { controlPlane: { endpoint: NEW } });
      await untilWhileReady(world, "half-way", async () => (await Promise.resolve(endpointsAt(world))).includes(NEW));
      await edit(world, { controlPlane: { endpoint: OLD } });
      await untilWhileReady(world, "taken back", () => moved(world, OLD));
      assert.equal((await world.get(kinds.record))?.spec?.["formerEndpoints"], undefined);
    }));

  test("is refused without discovery, with the reason, and the cluster stays ready", () =>
    tell({ names }, async (world) => {
      const { spec, ...cluster } = demoCluster(["10.5.0.1"], [], { endpoint: OLD });
      const airGapped = { ...spec?.controlPlane?.metalSpec?.machineSpec, airGap: true };
      const controlPlane = { ...spec?.controlPlane, metalSpec: { ...spec?.controlPlane?.metalSpec, machineSpec: airGapped } };
      const sent = await ready(world, { ...cluster, spec: { controlPlane } } as ReturnType<typeof demoCluster>);
      await edit(world, { controlPlane: { endpoint: NEW } });
      await untilWhileReady(world, "told", async () => (await stateOf(world)) === "False DiscoveryOff");
      await world.time.advance(60_000);
      assert.equal(world.sent.length, sent);
    }));

  test("of a KubernetesCluster is clusterEndpoint: a slip in it keeps the cluster ready, and is told", () => {
    const known = new Map<string, readonly string[]>();
    return tellComposition({ names: known }, async (world) => {
      const clusters = world.client.resource(kinds.kubernetesCluster);
      await clusters.create(flatCluster(1, { a: 1 }));
      await world.start();
      await world.untilComposed(900);
      const at = world.provider.given.get("default/demo-cp-0") ?? "";
      await clusters.patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { clusterEndpoint: NEW } } });
      const said = async (type: string) => conditionOf(await world.cluster(), type);
      await world.until("told", async () => (await said("EndpointUpToDate"))?.reason === "NotReached");
      assert.equal((await said("Ready"))?.status, "True");
      known.set("api.example", [at]);
      await world.until("moved", async () => (await said("EndpointUpToDate")) === undefined && configAt(world, at).endpoint === NEW, 600);
      assert.equal((await said("Ready"))?.status, "True");
    });
  });

  test("that the config of a person names is a wish as one in the spec", () =>
    tell({ names: new Map([["api.example", ["10.5.0.1"]]]) }, async (world) => {
      const secrets = await bundleOf(world);
      const text = writtenConfig("controlplane", secrets);
      await putConfigs(world, { "controlplane.yaml": text });
      await apply(world, kinds.cluster, writtenCluster());
      await world.start();
      await world.untilReady();
      await putConfigs(world, { "controlplane.yaml": text.replaceAll(writtenEndpoint, "https://typo.example:6443") });
      await untilWhileReady(world, "told", async () => (await stateOf(world)) === "False NotReached");
      assert.equal(configAt(world, "10.5.0.1").endpoint, writtenEndpoint);
      await putConfigs(world, { "controlplane.yaml": text.replaceAll(writtenEndpoint, NEW) });
      await untilWhileReady(world, "moved", async () => (await kubeconfigOf(world)).includes(`server: ${NEW}`));
      assert.equal(configAt(world, "10.5.0.1").endpoint, NEW);
    }));
});
