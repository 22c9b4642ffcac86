import assert from "node:assert/strict";
import test from "node:test";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { createDatacenter } from "../datacenter/datacenter.ts";
import type { DatacenterSnapshot } from "../datacenter/types.ts";
import { instantTimings } from "../node/timings.ts";
import { createSeededRandom } from "../testing/seeded-random.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";
import type { WorkloadApi } from "./api.ts";

type Node = {
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string | null> };
  spec: { taints: unknown[]; unschedulable?: boolean | null };
  status: { conditions: { type: string; status: string }[]; nodeInfo: { osImage: string; kubeletVersion: string } };
};

/** A Kubernetes API that knows Nodes, and a list of what the simulator asked of it. */
function fakeApi(failFirst = 0): { api: WorkloadApi; nodes: Map<string, Node>; asked: string[]; listening: Set<string> } {
  const nodes = new Map<string, Node>();
  const asked: string[] = [];
  const listening = new Set<string>();
  let failures = failFirst;
  const send = async ({ method, path, body }: KubeRequest): Promise<{ status: number; headers: {}; body: unknown }> => {
    await Promise.resolve();
    if (failures > 0) {
      failures -= 1;
      return { status: 503, headers: {}, body: {} };
    }
    if (!path.startsWith("/api/v1/nodes")) return { status: method === "POST" ? 201 : 200, headers: {}, body: { items: [], metadata: {} } };
    if (method === "POST") {
      const node = body as Node;
      if (nodes.has(node.metadata.name)) return { status: 409, headers: {}, body: {} };
      nodes.set(node.metadata.name, node);
      return { status: 201, headers: {}, body };
    }
    const name = path.split("/")[4] ?? "";
    const node = nodes.get(name);
    if (node === undefined) return { status: 404, headers: {}, body: {} };
    if (method === "GET") return { status: 200, headers: {}, body: node };
    const { metadata, spec, status = node.status } = body as Partial<Node>;
    const annotations = { ...node.metadata.annotations, ...metadata?.annotations };
    nodes.set(name, { metadata: { ...node.metadata, annotations }, spec: { ...node.spec, ...spec }, status });
    if (spec !== undefined) asked.push(`${name} unschedulable: ${String(spec.unschedulable)}`);
    return { status: 200, headers: {}, body: {} };
  };
  const transport: KubeTransport = { send, watch: () => Promise.reject(new Error("not asked for")), close: () => undefined };
  const api: WorkloadApi = {
    open: (request) => {
      asked.push(`open ${request.clusterName} ${request.kubernetesVersion}`);
      return Promise.resolve({
        transport,
        serve: (address, port) => {
          listening.add(`${address}:${port}`);
          return Promise.resolve();
        },
        unserve: (address, port) => {
          listening.delete(`${address}:${port}`);
          return Promise.resolve();
        },
        close: () => {
          asked.push("close");
          return Promise.resolve();
        },
      });
    },
  };
  return { api, nodes, asked, listening };
}

interface Posted {
  readonly headers: KubeRequest["headers"];
  readonly body: { readonly spec: { readonly request: string; readonly signerName: string } };
}

/** The same, and the certificate requests that it was sent. */
function withRequests({ api }: Pick<ReturnType<typeof fakeApi>, "api">): { readonly api: WorkloadApi; readonly posted: Posted[] } {
  const posted: Posted[] = [];
  return {
    posted,
    api: {
      open: async (request) => {
        const opened = await api.open(request);
        const send: KubeTransport["send"] = (sent, options) => {
          if (sent.path.endsWith("/certificatesigningrequests")) posted.push({ headers: sent.headers, body: sent.body as Posted["body"] });
          return opened.transport.send(sent, options);
        };
        return { ...opened, transport: { ...opened.transport, send } };
      },
    },
  };
}

async function cluster(workload: WorkloadApi, change: Parameters<TestWorld["apply"]>[2] = {}): Promise<TestWorld> {
  const world = await createTestWorld(
    [1, 2, 3, 4].map((n) => ({ address: `10.5.0.${n}` })),
    { workload },
  );
  for (const n of [1, 2, 3]) await world.apply(`10.5.0.${n}`, "controlplane", change);
  await world.apply("10.5.0.4", "worker", change);
  await world.time.advance(10);
  await (await world.client("10.5.0.1", "os:admin")).bootstrap();
  await world.time.advance(100);
  return world;
}

const readiness = (node: Node): string | undefined => node.status.conditions.find((condition) => condition.type === "Ready")?.status;

test("a Node tells the Talos that its machine was upgraded to", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const image = "ghcr.io/siderolabs/installer:v1.14.0";
  const osOf = (): string | undefined =>
    [...fake.nodes.values()].find((node) => readiness(node) === "True" && node.status.nodeInfo.osImage.includes("v1.14"))?.status.nodeInfo
      .osImage;
  assert.equal(osOf(), undefined);
  await (await world.client("10.5.0.4", "os:admin")).upgrade({ image, preserve: true });
  await world.time.advance(60_000);
  assert.equal(osOf(), "Talos (v1.14.0)");
  assert.equal([...fake.nodes.values()].filter((node) => readiness(node) === "True").length, 4);
  assert.deepEqual(
    fake.asked.slice(1).map((line) => line.split(" ").slice(1).join(" ")),
    ["unschedulable: true", "unschedulable: null"],
    "its machine cordons it, and takes that back",
  );
});

test("a Node that somebody else cordoned stays so over an upgrade", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const worker = world.datacenter.machine("10.5.0.4");
  const [name, node] =
    [...fake.nodes].find(([, { metadata }]) => metadata.labels["node-role.kubernetes.io/control-plane"] === undefined) ?? [];
  assert.ok(name !== undefined && node !== undefined);
  fake.nodes.set(name, { ...node, spec: { ...node.spec, unschedulable: true } });
  const image = "ghcr.io/siderolabs/installer:v1.14.0";
  await (await world.client("10.5.0.4", "os:admin")).upgrade({ image, preserve: true });
  await world.time.advance(60_000);
  assert.deepEqual([worker.state.hardware.talosVersion, fake.nodes.get(name)?.spec.unschedulable], ["v1.14.0", true]);
});

test("an upgrade whose machine finds nobody to cordon its Node ends after a minute, and the machine boots what it ran", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const worker = world.datacenter.machine("10.5.0.4");
  const { bootId } = worker.state;
  fake.nodes.clear();
  await (await world.client("10.5.0.4", "os:admin")).upgrade({ image: "ghcr.io/siderolabs/installer:v1.14.0", preserve: true });
  await world.time.advance(55_000);
  assert.deepEqual([worker.state.stage, worker.state.bootId, worker.state.services["kubelet"]?.state], ["upgrading", bootId, "Running"]);
  await world.time.advance(30_000);
  assert.notEqual(worker.state.bootId, bootId);
  assert.deepEqual([worker.state.hardware.talosVersion, worker.state.system?.next], ["v1.13.9", "v1.13.9"]);
});

test("the API opens once, every machine registers a Node and turns Ready", async () => {
  const fake = fakeApi();
  await cluster(fake.api);
  assert.deepEqual(fake.asked, ["open test v1.35.4"]);
  const nodes = [...fake.nodes.values()];
  assert.equal(nodes.length, 4);
  assert.deepEqual([...new Set(nodes.map(readiness))], ["True"]);
  assert.deepEqual([...new Set(nodes.map((node) => node.status.nodeInfo.osImage))], ["Talos (v1.13.9)"]);
  const controlPlanes = nodes.filter((node) => node.metadata.labels["node-role.kubernetes.io/control-plane"] === "");
  assert.equal(controlPlanes.length, 3);
  assert.deepEqual(controlPlanes[0]?.spec.taints, [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }]);
});

test("the API answers at every control plane and at the virtual address while one of them lives", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  assert.deepEqual([...fake.listening].toSorted(), ["10.5.0.100:6443", "10.5.0.1:6443", "10.5.0.2:6443", "10.5.0.3:6443"]);
  world.datacenter.machine("10.5.0.1").powerOff();
  await world.time.advance(10);
  assert.deepEqual([...fake.listening].toSorted(), ["10.5.0.100:6443", "10.5.0.2:6443", "10.5.0.3:6443"]);
  world.datacenter.machine("10.5.0.2").powerOff();
  await world.time.advance(10);
  assert.deepEqual([...fake.listening], [], "without a quorum nothing is served");
  world.datacenter.machine("10.5.0.1").powerOn();
  await world.time.advance(100);
  assert.deepEqual([...fake.listening].toSorted(), ["10.5.0.100:6443", "10.5.0.1:6443", "10.5.0.3:6443"]);
});

test("the Node of a silent machine turns Unknown after the grace period, and Ready when it is back", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const worker = world.datacenter.machine("10.5.0.4");
  const name = [...fake.nodes.keys()][3] ?? "";
  worker.powerOff();
  await world.time.advance(30_000);
  assert.equal([...fake.nodes.values()].filter((node) => readiness(node) === "Unknown").length, 0);
  await world.time.advance(15_000);
  assert.equal([...fake.nodes.values()].filter((node) => readiness(node) === "Unknown").length, 1);
  worker.powerOn();
  await world.time.advance(1_000);
  assert.deepEqual([...new Set([...fake.nodes.values()].map(readiness))], ["True"]);
  assert.ok(name !== "");
});

test("a Node without a network plugin stays NotReady over a boot, and is NotReady again after it was Unknown", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api, { cni: { name: "none" } });
  const told = (): (string | undefined)[] => [...new Set([...fake.nodes.values()].map(readiness))];
  const worker = world.datacenter.machine("10.5.0.4");
  assert.deepEqual(told(), ["False"]);
  worker.powerCycle();
  await world.time.advance(60_000);
  assert.deepEqual(told(), ["False"], "its kubelet posts a status although it is not ready");
  worker.powerOff();
  await world.time.advance(45_000);
  assert.deepEqual(told(), ["False", "Unknown"]);
  worker.powerOn();
  await world.time.advance(1_000);
  assert.deepEqual(told(), ["False"]);
});

test("the Node of a machine that fell silent while the API was away turns Unknown when the API is back", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const worker = world.datacenter.machine("10.5.0.4");
  for (const n of [1, 2]) world.datacenter.machine(`10.5.0.${n}`).setConnected(false);
  worker.powerOff();
  await world.time.advance(60_000);
  for (const n of [1, 2]) world.datacenter.machine(`10.5.0.${n}`).setConnected(true);
  await world.time.advance(30_000);
  assert.deepEqual([...new Set([...fake.nodes.values()].map(readiness))], ["True"], "every kubelet gets a whole grace period");
  await world.time.advance(15_000);
  const workerName = [...fake.nodes.values()].find((node) => node.spec.taints.length === 0)?.metadata.name;
  assert.deepEqual(
    [...fake.nodes.values()].filter((node) => readiness(node) !== "True").map(({ metadata }) => metadata.name),
    [workerName],
  );
});

test("the Node of a machine that was installed anew within the grace period turns Unknown beside its new one", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const worker = world.datacenter.machine("10.5.0.4");
  const former = [...fake.nodes.values()].find((node) => node.spec.taints.length === 0)?.metadata.name ?? "";
  worker.powerOff();
  worker.replaceDisk();
  worker.powerOn();
  await world.time.advance(1_000);
  await world.apply("10.5.0.4", "worker");
  await world.time.advance(45_000);
  assert.equal(fake.nodes.size, 5);
  assert.deepEqual(
    [...fake.nodes.values()].filter((node) => readiness(node) !== "True").map(({ metadata }) => metadata.name),
    [former],
  );
});

test("Nodes register again when a restored datacenter finds an empty API", async () => {
  const first = fakeApi();
  const world = await cluster(first.api);
  const snapshot = JSON.parse(JSON.stringify(world.datacenter.snapshot())) as DatacenterSnapshot;
  const names = [...first.nodes.keys()].toSorted();
  await world.datacenter.close();

  const second = fakeApi();
  const again = createDatacenter({
    clock: world.time,
    timers: world.time,
    random: createSeededRandom("again"),
    keys: world.keys,
    timings: instantTimings,
    machines: snapshot.machines.map(({ hardware }) => ({ address: hardware.address })),
    workload: second.api,
    snapshot,
  });
  await world.time.advance(1_000);
  assert.deepEqual([...second.nodes.keys()].toSorted(), names);
  assert.deepEqual([...new Set([...second.nodes.values()].map(readiness))], ["True"]);
  await again.close();
});

test("a Node that somebody deleted comes back only when its machine starts again", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const worker = world.datacenter.machine("10.5.0.4");
  const name = [...fake.nodes.values()].find((node) => node.metadata.labels["node-role.kubernetes.io/control-plane"] === undefined)
    ?.metadata.name;
  assert.ok(name !== undefined && fake.nodes.delete(name));
  await world.time.advance(60_000);
  assert.equal(fake.nodes.has(name), false);
  worker.powerOff();
  await world.time.advance(10);
  worker.powerOn();
  await world.time.advance(1_000);
  assert.equal(fake.nodes.has(name), true);
});

test("a machine that gets another host name registers another Node; the one before stays, and its kubelet is missed", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  const [before] = [...fake.nodes.values()].filter(
    ({ metadata }) => metadata.labels["node-role.kubernetes.io/control-plane"] === undefined,
  );
  assert.ok(before !== undefined);
  const { state } = world.datacenter.machine("10.5.0.4");
  const config = (state.config.active ?? "").replaceAll("auto: stable", 'auto: "off"\nhostname: worker-a');
  assert.match(config, /hostname: worker-a/);
  await (await world.client("10.5.0.4", "os:admin")).applyConfiguration({ config, mode: "no-reboot" });
  await world.time.advance(1_000);
  const ready = (): readonly unknown[] =>
    [before.metadata.name, "worker-a"].map((name) => readiness(fake.nodes.get(name) ?? assert.fail(name)));
  assert.deepEqual(ready(), ["True", "True"]);
  assert.equal(world.datacenter.machine("10.5.0.4").state.bootId, state.bootId);
  await world.time.advance(60_000);
  assert.deepEqual(ready(), ["Unknown", "True"]);
});

test("an API that refuses is tried again", async () => {
  const fake = fakeApi(3);
  const world = await cluster(fake.api);
  await world.time.advance(10_000);
  assert.equal(fake.nodes.size, 4);
});

test("closing the datacenter closes the API", async () => {
  const fake = fakeApi();
  const world = await cluster(fake.api);
  await world.datacenter.close();
  assert.equal(fake.asked.at(-1), "close");
});

test("closing the datacenter waits for no write that its API refuses", async () => {
  const fake = fakeApi(Number.POSITIVE_INFINITY);
  const world = await cluster(fake.api);
  await world.time.advance(10_000);
  await world.datacenter.close();
  assert.equal(fake.asked.at(-1), "close");
});

test("a kubelet that rotates its serving certificate asks for one at each start, as its Node; others ask for none", async () => {
  const { api, posted } = withRequests(fakeApi());
  const world = await cluster(api);
  assert.equal(posted.length, 0);
  const rotating = world
    .config("worker")
    .replace(/^( +)kubelet:\n/mu, '$1kubelet:\n$1$1extraArgs:\n$1$1$1rotate-server-certificates: "true"\n');
  const admin = await world.client("10.5.0.4", "os:admin");
  await admin.applyConfiguration({ config: rotating, mode: "reboot" });
  await world.time.advance(100);
  assert.equal(posted.length, 1);
  const { headers, body } = posted[0] ?? assert.fail();
  const name = headers?.["impersonate-user"]?.replace("system:node:", "") ?? "";
  assert.notEqual(name, "");
  assert.equal(headers?.["impersonate-group"], "system:nodes");
  assert.equal(body.spec.signerName, "kubernetes.io/kubelet-serving");
  assert.deepEqual(await world.keys.describeCertificateRequest(Buffer.from(body.spec.request, "base64").toString()), {
    commonName: `system:node:${name}`,
    organizations: ["system:nodes"],
    dnsNames: [name],
    ipAddresses: ["10.5.0.4"],
    otherNames: [],
  });
});
