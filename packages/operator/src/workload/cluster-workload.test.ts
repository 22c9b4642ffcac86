import assert from "node:assert/strict";
import { test } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { VirtualTime } from "@talos-operator/kube-runtime/testing";
import type { CertificateRequest, KeyPair, Keys, KubeCallOptions, KubeRequest, KubeResponse, WorkloadTarget } from "@talos-operator/ports";
import { EffectError } from "../errors.ts";
import { ClusterWorkload } from "./cluster-workload.ts";
import type { WorkloadPlace } from "./workload-api.ts";

const request = { machine: "demo-1", address: "10.0.0.1", uuid: "u", why: "demo/demo-1" };
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
const pair: KeyPair = { certificate: "CERTIFICATE", key: "KEY" };

interface World {
  readonly time: VirtualTime;
  readonly workload: ClusterWorkload;
  readonly targets: WorkloadTarget[];
  readonly signed: CertificateRequest[];
  readonly sent: KubeRequest[];
  /** Until when each call had to be answered. Milliseconds. */
  readonly limits: (number | undefined)[];
  answer: (request: KubeRequest) => KubeResponse | Error;
  woken: number;
  demand: () => Promise<number>;
  ask(): void;
  look(): void;
  lookAhead(): void;
}

function createWorld(): World {
  const time = createVirtualTime();
  const signing = (_: KeyPair, wanted: CertificateRequest): Promise<KeyPair> => {
    world.signed.push(wanted);
    return Promise.resolve(pair);
  };
  const keys: Keys = { ...createX509Keys(), signCertificate: signing };
  const place: WorkloadPlace = {
    addresses: () => ["10.0.0.1", "10.0.0.2"],
    endpoint: "https://10.0.0.100:6443",
    authority: () => Promise.resolve({ certificate: "CA", key: "CA KEY" }),
  };
  const dialer = {
    dial: (target: WorkloadTarget) => {
      world.targets.push(target);
      return {
        async send(sent: KubeRequest, options?: KubeCallOptions): Promise<KubeResponse> {
          await Promise.resolve();
          world.sent.push(sent);
          world.limits.push(options?.timeoutMs);
          const answer = world.answer(sent);
          if (answer instanceof Error) throw answer;
          return answer;
        },
        watch: () => Promise.reject(new Error("not asked for")),
        close: () => undefined,
      };
    },
  };
  const workload = new ClusterWorkload({ dialer, keys, clock: time.clock, timers: time.timers }, () => (world.woken += 1));
  const world: World = {
    time,
    workload,
    targets: [],
    signed: [],
    sent: [],
    limits: [],
    answer: () => new Error("connect ECONNREFUSED"),
    woken: 0,
    demand: () => Promise.resolve(60_000),
    ask: () => workload.ask(request, { nodeName: () => Promise.resolve("node-1"), demand: () => world.demand(), log }, place),
    look: () => workload.lookAtNodes(place, log),
    lookAhead: () => workload.lookAhead(place, log),
  };
  return world;
}

const ok = (body: unknown): KubeResponse => ({ status: 200, headers: {}, body });
const list = (items: readonly object[]): object => ({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: "1" }, items });
const node = { metadata: { name: "node-1", resourceVersion: "1" }, status: { nodeInfo: { systemUUID: "u" } } };

test("a drain is given up when nobody has asked for it for a minute", async () => {
  const world = createWorld();
  world.ask();
  await world.time.advance(50_000);
  world.ask();
  await world.time.advance(50_000);
  assert.equal(world.workload.drains().get("demo-1")?.state?.kind, "unreachable");
  await world.time.advance(10_000);
  assert.equal(world.workload.drains().size, 0);
  const before = world.sent.length;
  await world.time.advance(600_000);
  assert.equal(world.sent.length, before);
});

test("asking again goes on with the drain that runs, and runs one anew that has ended", async () => {
  const world = createWorld();
  world.answer = ({ path }) => ok(/\/(pods|volumeattachments)$/.test(path) ? list([]) : node);
  world.ask();
  world.ask();
  await world.time.settle();
  assert.equal(world.targets.length, 2, "the kubelet, and who may list what is attached");
  assert.equal(world.workload.drains().get("demo-1")?.state?.kind, "drained");
  assert.deepEqual([...world.workload.nodes().cordoned], [["demo-1", "node-1"]]);
  assert.ok(world.woken > 0);
  world.ask();
  await world.time.settle();
  assert.equal(world.targets.length, 4);
  world.workload.released("demo-1", "node-1");
  assert.equal(world.workload.nodes().cordoned.size, 0);
  assert.equal(world.workload.drains().size, 0);
});

test("a drain that is refused before it began wakes the cluster after a pause, and is begun anew then", async () => {
  const world = createWorld();
  world.demand = () => Promise.reject(new EffectError("RECORD_CHANGED", "it changed"));
  world.ask();
  await world.time.advance(1_000);
  assert.equal(world.woken, 0);
  assert.equal(world.workload.drains().get("demo-1")?.state, undefined);
  await world.time.advance(2_000);
  assert.equal(world.woken, 1);
  assert.equal(world.workload.drains().size, 0);
});

test("a closed session drains nothing and wakes nobody", async () => {
  const world = createWorld();
  world.ask();
  await world.time.settle();
  world.workload.close();
  const [sent, woken] = [world.sent.length, world.woken];
  world.ask();
  world.look();
  await world.time.advance(600_000);
  assert.deepEqual([world.sent.length, world.woken], [sent, woken]);
});

test("certificates are short-lived and name the least user that can do it", async () => {
  const world = createWorld();
  world.answer = ({ path }) => ok(/\/(pods|nodes|volumeattachments)$/.test(path) ? list([]) : node);
  world.ask();
  world.look();
  await world.time.settle();
  const shown = world.signed.map(({ usage, commonName, organizations, notBefore, lifetimeMs }) => ({
    usage,
    commonName,
    organizations,
    minutes: (notBefore + lifetimeMs - world.time.clock.now()) / 60_000,
  }));
  assert.deepEqual(
    shown.toSorted((a, b) => ((a.commonName ?? "") < (b.commonName ?? "") ? -1 : 1)),
    [
      { usage: "client", commonName: "system:node:node-1", organizations: ["system:nodes"], minutes: 10 },
      {
        usage: "client",
        commonName: "system:serviceaccount:kube-system:attachdetach-controller",
        organizations: ["talos-operator.dev"],
        minutes: 10,
      },
      {
        usage: "client",
        commonName: "system:serviceaccount:kube-system:node-controller",
        organizations: ["talos-operator.dev"],
        minutes: 10,
      },
    ],
  );
  assert.deepEqual(world.targets[0], { addresses: ["10.0.0.1", "10.0.0.2"], endpoint: "https://10.0.0.100:6443", ca: "CA", ...pair });
});

test("Nodes are listed once at a time, and what was listed last stays when nobody answers", async () => {
  const world = createWorld();
  world.answer = () => ok(list([node]));
  world.look();
  world.look();
  assert.equal(world.workload.nodes().isAsking, true);
  await world.time.settle();
  assert.equal(world.sent.length, 1);
  assert.deepEqual(
    world.workload.nodes().nodes?.map(({ name }) => name),
    ["node-1"],
  );
  assert.equal(world.workload.nodes().isStale, false);
  world.answer = () => new Error("connect ECONNREFUSED");
  world.look();
  await world.time.settle();
  const { nodes, isStale, isAsking } = world.workload.nodes();
  assert.deepEqual([nodes?.length, isStale, isAsking], [1, true, false]);
});

test("every call to the cluster's own API has an end (V16)", async () => {
  const world = createWorld();
  world.answer = () => new Error("connect ETIMEDOUT");
  world.look();
  world.ask();
  await world.time.advance(60_000);
  assert.ok(world.limits.length >= 2);
  for (const limit of world.limits) assert.ok(limit !== undefined && limit <= 10_000, `${limit} ms`);
});

test("what would hold up drains is not known any more once nobody answers", async () => {
  const world = createWorld();
  world.answer = () => ok(list([]));
  world.lookAhead();
  await world.time.settle();
  assert.deepEqual([world.workload.ahead().says, world.workload.ahead().isUnanswered], [[], false]);
  world.answer = () => new Error("connect ECONNREFUSED");
  world.lookAhead();
  await world.time.settle();
  assert.match(
    world.workload.ahead().says?.join(" ") ?? "",
    /^Budgets that would hold up drains, .* are not known: its own API answers NO_ANSWER/,
  );
  assert.equal(world.workload.ahead().isUnanswered, true);
});
