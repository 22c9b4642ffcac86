// What a cluster costs the Kubernetes API while its machines come up at the pace of genuine ones, and afterwards. Requests are counted, in virtual time.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeTransport } from "@talos-operator/ports";
import { genuineTimings } from "@talos-operator/simulator";
import { containerDocuments, containerMachines } from "./container-documents.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

/** Requests of the operator by what they are: `PATCH talosmachines/status`, `WATCH talosworkers`. */
function counted(requests: string[]): (real: KubeTransport) => KubeTransport {
  const note = (method: string, path: string): void => {
    const [, plural = path, subresource = ""] = /\/([a-z]+)(?:\/[^/]+(\/[a-z]+)?)?$/.exec(path.replace(/\/namespaces\/[^/]+/, "")) ?? [];
    requests.push(`${method} ${plural}${subresource}`);
  };
  return (real) => ({
    ...real,
    send(request, options) {
      note(request.method, request.path);
      return real.send(request, options);
    },
    watch(request, options) {
      note("WATCH", request.path);
      return real.watch(request, options);
    },
  });
}

const isReady = async (world: Story, kind: keyof typeof kinds, name?: string): Promise<boolean> =>
  (await world.condition(kinds[kind], "Ready", name))?.status === "True";

const voters = ({ datacenter }: Story): number =>
  (datacenter.etcdClusters()[0]?.members ?? []).filter(({ isLearner }) => !isLearner).length;

const shapes = [
  {
    name: "a control plane and a pool",
    make: async (world: Story) => {
      await apply(world, kinds.controlPlane, containerDocuments.controlPlane);
      await apply(world, kinds.worker, containerDocuments.worker);
    },
    isMade: async (world: Story) => (await isReady(world, "controlPlane")) && (await isReady(world, "worker", "demo-workers")),
    most: { all: 52, statuses: 16, reads: 13 },
  },
  {
    name: "a TalosCluster, which makes both",
    make: async (world: Story) => {
      const addresses = containerMachines.map(({ address }) => address);
      await apply(world, kinds.cluster, demoCluster(addresses.slice(0, 3), addresses.slice(3)));
    },
    isMade: (world: Story) => isReady(world, "cluster"),
    most: { all: 60, statuses: 20, reads: 13 },
  },
];

for (const { name, make, isMade, most } of shapes)
  test(`3 + 2 machines at the pace of genuine ones cost ${most.all} requests at most as ${name}, and two a minute beside the lease afterwards`, async () => {
    const requests: string[] = [];
    const operator = { leaderElection: { namespace: "default" } };
    await tell({ machines: containerMachines, timings: genuineTimings, operator, kube: counted(requests) }, async (world) => {
      await world.start();
      await world.time.advance(20_000);
      const begunAt = world.time.now();
      requests.length = 0;
      await make(world);
      await world.until("three voters", () => Promise.resolve(voters(world) === 3));
      const seconds = (world.time.now() - begunAt) / 1_000;
      assert.ok(seconds >= 38 && seconds <= 42, `three voters after ${seconds} s`);
      await world.until("Ready", () => isMade(world));
      const sent = requests.filter((request) => !request.endsWith(" leases"));
      const said = sent.toSorted().join(", ");
      assert.ok(sent.length <= most.all, `${sent.length}: ${said}`);
      const [statuses, reads] = [/^PATCH .*\/status$/, /^GET /].map((kind) => sent.filter((request) => kind.test(request)).length);
      assert.ok((statuses ?? 0) <= most.statuses, `${statuses} statuses written: ${said}`);
      assert.ok((reads ?? 0) <= most.reads, `${reads} objects read: ${said}`);

      await world.time.advance(60_000);
      requests.length = 0;
      await world.time.advance(3_600_000);
      const idle = requests.filter((request) => !request.endsWith(" leases")).length / 60;
      assert.ok(idle <= 2.3, `${idle} requests a minute beside the lease, which is renewed every two seconds after its last answer`);
      assert.equal(requests.filter((request) => request.startsWith("PATCH")).length, 0);
    });
  });
