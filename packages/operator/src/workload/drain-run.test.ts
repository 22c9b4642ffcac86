import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { VirtualTime } from "@talos-operator/kube-runtime/testing";
import type { KubeRequest, KubeResponse, KubeTransport } from "@talos-operator/ports";
import { EffectError } from "../errors.ts";
import { runDrain } from "./drain-run.ts";
import type { DrainPorts } from "./drain-run.ts";
import { claimType, nodeType, podType, volumeAttachmentType } from "./kinds.ts";
import type { NodeObject } from "./kinds.ts";
import type { DrainState } from "../model/workload.ts";
import { CORDON_MARK } from "./seen-node.ts";

const uuid = "00112233-4455-6677-8899-aabbccddeeff";
const owner = { uuid, address: "10.0.0.1" };
const budgetType: ResourceType = {
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
};
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
/** Holds an evicted pod as a kubelet does. */
const held = "test/held";

interface World {
  readonly time: VirtualTime;
  readonly client: KubeClient;
  readonly states: DrainState[];
  /** Requests of the drain but reads, in order. */
  readonly writes: string[];
  readonly abort: AbortController;
  /** Answers instead of the API while set. */
  answer: ((request: KubeRequest) => KubeResponse | Error | undefined) | undefined;
  unreachableMs: number;
  ranMs: number;
  begin(over?: Partial<DrainPorts>): Promise<void>;
  /** Resolved once the drain has ended. */
  readonly ended: { value: boolean };
  pod(name: string, over?: Record<string, unknown>, volumes?: readonly object[]): Promise<void>;
  budget(name: string, app: string, minAvailable: number): Promise<void>;
  /** Lets go every pod that is on its way out. */
  reap(): Promise<void>;
}

async function withNode(use: (world: World) => Promise<void>, systemUUID: string = uuid): Promise<void> {
  const time = createVirtualTime();
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  const real = server.transport({ name: "test", groups: ["system:masters"] });
  const client = createKubeClient(real);
  const status = { addresses: [{ type: "InternalIP", address: owner.address }], nodeInfo: { systemUUID } };
  await client.resource<NodeObject>(nodeType).create({ metadata: { name: "a" } });
  await client.resource<NodeObject>(nodeType).patchStatus({ name: "a" }, { type: "merge", value: { status } });
  const pods = client.resource(podType);
  const world: World = {
    time,
    client,
    states: [],
    writes: [],
    abort: new AbortController(),
    answer: undefined,
    unreachableMs: 0,
    ranMs: 0,
    ended: { value: false },
    async begin(over = {}) {
      const transport: KubeTransport = {
        ...real,
        async send(request, options) {
          await Promise.resolve();
          if (request.method !== "GET") world.writes.push(`${request.method} ${request.path}`);
          const answer = world.answer?.(request);
          if (answer instanceof Error) throw answer;
          return answer ?? real.send(request, options);
        },
        close: () => undefined,
      };
      void runDrain(owner, "demo/a", {
        nodeName: () => Promise.resolve("a"),
        open: () => Promise.resolve({ client: createKubeClient(transport), close: () => undefined }),
        demand: () => Promise.resolve(60_000),
        clock: time.clock,
        timers: time.timers,
        log,
        signal: world.abort.signal,
        report: (state) => world.states.push(state),
        passed: (times) => Object.assign(world, times),
        cordoned: () => undefined,
        ...over,
      }).then(() => {
        world.ended.value = true;
      });
      await time.settle();
    },
    async pod(name, over = {}, volumes = []) {
      const spec = { nodeName: "a", volumes, containers: [{ name: "main", image: "example.com/web:1" }] };
      await pods.create({
        metadata: { namespace: "default", name, labels: { app: name.split("-")[0] }, finalizers: [held], ...over },
        spec,
      } as KubeObject);
      const value = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
      await pods.patchStatus({ namespace: "default", name }, { type: "merge", value });
      await time.settle();
    },
    async budget(name, app, minAvailable) {
      const spec = { minAvailable, selector: { matchLabels: { app } } };
      await client.resource(budgetType).create({ metadata: { namespace: "default", name }, spec } as KubeObject);
      await time.advance(1);
    },
    async reap() {
      for (const { metadata } of (await pods.list()).items)
        if (metadata?.deletionTimestamp !== undefined)
          await pods.patch(
            { namespace: "default", name: metadata.name ?? "" },
            { type: "merge", value: { metadata: { finalizers: null } } },
          );
    },
  };
  try {
    await use(world);
  } finally {
    world.abort.abort();
    await time.settle();
    server.close();
  }
}

const last = (world: World): DrainState | undefined => world.states.at(-1);
/** What the attacher of a CSI driver has done. */
async function attach({ client }: World, volume: string, { nodeName = "a", attached = true } = {}): Promise<void> {
  const attachments = client.resource(volumeAttachmentType);
  const spec = { attacher: "csi.example.com", nodeName, source: { persistentVolumeName: volume } };
  await attachments.create({ metadata: { name: `csi-${volume}` }, spec } as KubeObject);
  await attachments.patchStatus({ name: `csi-${volume}` }, { type: "merge", value: { status: { attached } } });
}

async function claim({ client }: World, name: string, volumeName: string): Promise<void> {
  const spec = { volumeName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  await client.resource(claimType).create({ metadata: { namespace: "default", name }, spec } as KubeObject);
}
const refusal = (status: number, reason: string, message: string, causes: readonly object[] = []): KubeResponse => ({
  status,
  headers: {},
  body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, message, code: status, details: { causes } },
});

test("an empty Node is cordoned, marked, and drained at once", () =>
  withNode(async (world) => {
    await world.begin();
    assert.deepEqual(world.states, [{ kind: "drained", at: world.time.clock.now() }]);
    const node = await world.client.resource<NodeObject>(nodeType).get({ name: "a" });
    assert.equal(node.spec?.unschedulable, true);
    assert.equal(node.metadata?.annotations?.[CORDON_MARK], "demo/a");
    assert.equal(world.ended.value, true);
  }));

test("a Node that a person cordoned gets no mark", () =>
  withNode(async (world) => {
    await world.client.resource(nodeType).patch({ name: "a" }, { type: "merge", value: { spec: { unschedulable: true } } });
    await world.begin();
    assert.deepEqual(world.writes, []);
    assert.equal(last(world)?.kind, "drained");
  }));

test("a pod counts as gone when it is gone, not when it was evicted", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.begin();
    await world.time.advance(60_000);
    assert.deepEqual(last(world), { kind: "evicting", podsLeft: 1, blocked: [], leaving: ["default/web-1"] });
    assert.equal(
      world.writes.filter((write) => write.endsWith("/eviction")).length,
      1,
      "an eviction that was granted is not asked for again",
    );
    await world.reap();
    await world.time.advance(5_000);
    assert.equal(last(world)?.kind, "drained");
  }));

test("a budget holds a pod, is named, and releases it when it may; other pods do not wait for it", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.pod("other-1");
    await world.budget("web-budget", "web", 1);
    await world.begin();
    assert.deepEqual(last(world), {
      kind: "evicting",
      podsLeft: 2,
      blocked: [{ pod: "default/web-1", budget: "default/web-budget" }],
      leaving: [],
    });
    await world.time.advance(3_000);
    await world.reap();
    await world.time.advance(3_000);
    assert.deepEqual(last(world), {
      kind: "evicting",
      podsLeft: 1,
      blocked: [{ pod: "default/web-1", budget: "default/web-budget" }],
      leaving: [],
    });
    const before = world.writes.length;
    await world.time.advance(600_000);
    assert.ok(
      world.writes.length - before <= 25,
      `a budget without room is asked every half a minute, not ${world.writes.length - before} times in ten`,
    );
    assert.ok(world.writes.length - before >= 15);
    await world.client.resource(budgetType).delete({ namespace: "default", name: "web-budget" });
    await world.time.advance(31_000);
    await world.reap();
    await world.time.advance(3_000);
    assert.equal(last(world)?.kind, "drained");
    assert.ok(!world.writes.some((write) => write.startsWith("DELETE")), "nothing is deleted past a budget");
  }));

test("two budgets over one pod hold it up, and a person is told", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.budget("one", "web", 1);
    await world.budget("two", "web", 1);
    await world.begin();
    assert.deepEqual(last(world), { kind: "evicting", podsLeft: 1, blocked: [{ pod: "default/web-1", budget: undefined }], leaving: [] });
  }));

test("a busy server is no budget, and is asked again when it says so", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    world.answer = (request) =>
      request.path.endsWith("/eviction") ? { ...refusal(429, "TooManyRequests", "busy"), headers: { "retry-after": "20" } } : undefined;
    await world.begin();
    assert.deepEqual(last(world), { kind: "evicting", podsLeft: 1, blocked: [], leaving: [] });
    const before = world.writes.length;
    await world.time.advance(19_000);
    assert.equal(world.writes.length, before);
    world.answer = undefined;
    await world.time.advance(3_000);
    assert.equal(world.writes.length, before + 1);
  }));

test("a pod that took the name of the one that was seen is not evicted in its place", () =>
  withNode(async (world) => {
    await world.pod("web-1", { finalizers: [] });
    let isReplaced = false;
    world.answer = (request) => {
      if (!request.path.endsWith("/eviction") || isReplaced) return undefined;
      isReplaced = true;
      const asked = request.body as { readonly deleteOptions: { readonly preconditions: { readonly uid?: string } } };
      assert.match(asked.deleteOptions.preconditions.uid ?? "", /-/);
      return refusal(409, "Conflict", "the UID in the precondition does not match");
    };
    await world.begin();
    assert.deepEqual(last(world), { kind: "evicting", podsLeft: 1, blocked: [], leaving: [] });
  }));

test("a drain ends when the volumes of the pods that left are detached, and names them until then", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await attach(world, "pv-web");
    await attach(world, "pv-elsewhere", { nodeName: "b" });
    await attach(world, "pv-never", { attached: false });
    await world.begin();
    assert.equal(last(world)?.kind, "evicting", "nobody asks for volumes while pods use them");
    await world.reap();
    await world.time.advance(60_000);
    assert.deepEqual(last(world), { kind: "detaching", volumesLeft: 1, volumes: ["pv-web"] });
    assert.equal(world.ended.value, false);
    await world.client.resource(volumeAttachmentType).delete({ name: "csi-pv-web" });
    await world.time.advance(31_000);
    assert.equal(last(world)?.kind, "drained");
  }));

test("volumes of pods that stay hold nothing up: of a DaemonSet, of this process, and with claims made for a pod", () =>
  withNode(async (world) => {
    await world.pod("agent", { annotations: { "kubernetes.io/config.mirror": "x" } }, [
      { name: "data", persistentVolumeClaim: { claimName: "agent-data" } },
      { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: {} } } },
    ]);
    await claim(world, "agent-data", "pv-agent");
    await claim(world, "agent-scratch", "pv-scratch");
    for (const volume of ["pv-agent", "pv-scratch"]) await attach(world, volume);
    await world.begin();
    assert.equal(last(world)?.kind, "drained");
  }));

test("a pod that has finished uses no volume", () =>
  withNode(async (world) => {
    await world.pod("job", {}, [{ name: "data", persistentVolumeClaim: { claimName: "job-data" } }]);
    await world.client
      .resource(podType)
      .patchStatus({ namespace: "default", name: "job" }, { type: "merge", value: { status: { phase: "Succeeded" } } });
    await claim(world, "job-data", "pv-job");
    await attach(world, "pv-job");
    await world.begin();
    assert.deepEqual(last(world), { kind: "detaching", volumesLeft: 1, volumes: ["pv-job"] });
  }));

for (const [status, reason] of [
  [403, "Forbidden"],
  [404, "NotFound"],
] as const)
  test(`an API that answers ${status} to what is attached holds no drain up, and that is said`, () =>
    withNode(async (world) => {
      world.answer = (request) => (request.path.endsWith("/volumeattachments") ? refusal(status, reason, "no") : undefined);
      await world.begin();
      const state = last(world);
      assert.match((state?.kind === "drained" && state.volumesUnknown) || "", /answers (FORBIDDEN|NOT_SERVED) to .*volumeattachments/);
    }));

test("an API that falls silent about volumes is waited for", () =>
  withNode(async (world) => {
    world.answer = (request) => (request.path.endsWith("/volumeattachments") ? new Error("connect ECONNREFUSED") : undefined);
    await world.begin();
    assert.equal(last(world)?.kind, "unreachable");
    world.answer = undefined;
    await world.time.advance(10_000);
    assert.deepEqual(last(world), { kind: "drained", at: world.time.clock.now() - 5_000 });
  }));

test("volumes that nobody detaches are looked at every half a minute", () =>
  withNode(async (world) => {
    await attach(world, "pv-web");
    let asked = 0;
    world.answer = (request) => {
      if (request.path.endsWith("/volumeattachments")) asked += 1;
      return undefined;
    };
    await world.begin();
    await world.time.advance(600_000);
    assert.ok(asked >= 15 && asked <= 30, String(asked));
  }));

test("a Node of another machine is refused and left as it is", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.begin();
    assert.equal(last(world)?.kind, "refused");
    assert.deepEqual(world.writes, []);
  }, "ffffffff-1111-2222-3333-444444444444"));

test("a machine without a Node has nothing to drain", () =>
  withNode(async (world) => {
    await world.begin({ nodeName: () => Promise.resolve("b") });
    assert.deepEqual(world.states, [{ kind: "no-node" }]);
  }));

test("a Node name that goes into no certificate is refused before one is made", () =>
  withNode(async (world) => {
    let opened = 0;
    await world.begin({
      nodeName: () => Promise.resolve("a,O=system:masters"),
      open: () => {
        opened += 1;
        return Promise.reject(new Error("not asked for"));
      },
    });
    assert.equal(last(world)?.kind, "refused");
    assert.equal(opened, 0);
  }));

test("silence of the API is counted by timers and forgotten when it answers", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    world.answer = () => new Error("connect ECONNREFUSED");
    await world.begin();
    assert.deepEqual(last(world), { kind: "unreachable", detail: "NO_ANSWER" });
    await world.time.advance(300_000);
    assert.ok(world.unreachableMs > 240_000 && world.unreachableMs <= 300_000, String(world.unreachableMs));
    world.answer = undefined;
    await world.time.advance(62_000);
    assert.equal(last(world)?.kind, "evicting");
    assert.equal(world.unreachableMs, 0);
    assert.ok(world.ranMs > 300_000);
  }));

test("an API that refuses us is told, and asked again", () =>
  withNode(async (world) => {
    world.answer = () => refusal(403, "Forbidden", "no");
    await world.begin();
    assert.equal(last(world)?.kind, "refused");
    world.answer = undefined;
    await world.time.advance(10_000);
    assert.equal(last(world)?.kind, "drained");
  }));

test("a process that does not lead any more writes nothing", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.begin({ demand: () => Promise.reject(new EffectError("NOT_LEADING", "another process holds the lease")) });
    assert.deepEqual(world.writes, []);
    assert.equal(world.ended.value, true);
  }));

test("the right to go on is asked for in every round", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.budget("web-budget", "web", 1);
    let isOurs = true;
    await world.begin({
      demand: () => (isOurs ? Promise.resolve(60_000) : Promise.reject(new EffectError("RECORD_CHANGED", "the machine was released"))),
    });
    assert.equal(last(world)?.kind, "evicting");
    isOurs = false;
    const before = world.writes.length;
    await world.time.advance(60_000);
    assert.equal(world.writes.length, before);
    assert.equal(world.ended.value, true);
  }));

test("a drain that takes hours has one client at a time", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.budget("web-budget", "web", 1);
    let [opened, closed] = [0, 0];
    await world.begin({
      open: () => {
        opened += 1;
        return Promise.resolve({ client: world.client, close: () => void (closed += 1) });
      },
    });
    await world.time.advance(3_600_000);
    assert.ok(opened > 10, String(opened));
    assert.equal(opened - closed, 1);
  }));

test("a drain that is given up evicts nothing more", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.budget("web-budget", "web", 1);
    await world.begin();
    world.abort.abort();
    await world.time.settle();
    const before = world.writes.length;
    await world.client.resource(budgetType).delete({ namespace: "default", name: "web-budget" });
    await world.time.advance(600_000);
    assert.equal(world.writes.length, before);
    assert.equal(world.ended.value, true);
  }));

test("certificates are made anew before they end", () =>
  withNode(async (world) => {
    await world.pod("web-1");
    await world.budget("web-budget", "web", 1);
    let opened = 0;
    const { client } = world;
    await world.begin({
      open: () => {
        opened += 1;
        return Promise.resolve({ client, close: () => undefined });
      },
    });
    await world.time.advance(3_600_000);
    assert.ok(opened >= 11 && opened <= 13, String(opened));
  }));

test("of many pods no more than a handful is evicted after the lease was lost", () =>
  withNode(async (world) => {
    for (let index = 0; index < 20; index += 1) await world.pod(`web-${index}`);
    let asked = 0;
    const demand = (): Promise<number> => {
      asked += 1;
      return asked <= 2 ? Promise.resolve(60_000) : Promise.reject(new EffectError("NOT_LEADING", "another process holds the lease"));
    };
    await world.begin({ demand });
    assert.equal(world.writes.filter((write) => write.endsWith("/eviction")).length, 8);
    assert.equal(world.ended.value, true);
  }));
