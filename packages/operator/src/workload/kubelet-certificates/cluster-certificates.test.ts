import assert from "node:assert/strict";
import { test } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { KeyPair, KubeRequest, KubeResponse } from "@talos-operator/ports";
import { EffectError } from "../../errors.ts";
import type { WorkloadPlace } from "../workload-api.ts";
import { ClusterCertificates } from "./cluster-certificates.ts";
import type { Approver } from "./cluster-certificates.ts";
import { requestType } from "./requests.ts";
import type { RequestObject } from "./requests.ts";
import type { SeenCertificates } from "../../model/workload.ts";

const keys = createX509Keys();
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
const pair: KeyPair = { certificate: "CERTIFICATE", key: "KEY" };
/** Users that look, and may approve none of these. */
const reads = ["system:serviceaccount:kube-system:certificate-controller", "system:serviceaccount:kube-system:node-controller"];
const uuid = "00112233-4455-6677-8899-aabbccddeeff";

interface World {
  /** Requests of what is tested, in order: `GET /apis/...`. */
  readonly sent: string[];
  /** Users that it acted as. */
  readonly users: string[];
  readonly approved: string[];
  readonly approver: Approver;
  /** Answers instead of the API while set. */
  answer: ((request: KubeRequest) => KubeResponse | Error | undefined) | undefined;
  woken: number;
  ask(over?: { readonly name?: string; readonly ipAddresses?: string[] }): Promise<void>;
  /** A person denies everything that was asked. */
  deny(): Promise<void>;
  requests(): Promise<readonly RequestObject[]>;
  /** Looks, and waits until it has seen. */
  look(approver?: Approver): Promise<SeenCertificates>;
  readonly certificates: ClusterCertificates;
}

/** A genuine API server's rules about requests, and genuine keys: one Node `node-1`, whose machine is ours. */
async function withCluster(use: (world: World) => Promise<void>): Promise<void> {
  const time = createVirtualTime();
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  const real = server.transport({ name: "test", groups: ["system:masters"] });
  const client = createKubeClient(real);
  const status = { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], nodeInfo: { systemUUID: uuid } };
  await client.resource({ group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false }).create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node-1" },
    status,
  } as never);
  const place: WorkloadPlace = {
    addresses: () => ["10.0.0.1"],
    endpoint: "https://10.0.0.100:6443",
    authority: () => Promise.resolve({ certificate: "CA", key: "CA KEY" }),
  };
  const dialer = {
    dial: () => ({
      ...real,
      async send(request: KubeRequest): Promise<KubeResponse> {
        world.sent.push(`${request.method} ${request.path.split("/").at(-1) ?? ""}`);
        const answer = world.answer?.(request);
        if (answer instanceof Error) throw answer;
        return answer ?? (await real.send(request));
      },
      close: () => undefined,
    }),
  };
  const signCertificate: typeof keys.signCertificate = (_, wanted) => {
    world.users.push(wanted.commonName ?? "");
    return Promise.resolve(pair);
  };
  const certificates = new ClusterCertificates({ dialer, keys: { ...keys, signCertificate }, clock: time.clock }, () => (world.woken += 1));
  const world: World = {
    sent: [],
    users: [],
    approved: [],
    approver: {
      machines: [{ machine: "demo-1", uuid, address: "10.0.0.1", nodeName: "node-1" }],
      reserved: [],
      networks: [],
      demand: () => Promise.resolve(20_000),
      approved: (machine, request) => void world.approved.push(`${machine} ${request.slice(0, 4)}`),
    },
    answer: undefined,
    woken: 0,
    certificates,
    async ask({ name = "node-1", ipAddresses = ["10.0.0.1"] } = {}) {
      const commonName = `system:node:${name}`;
      const { request } = await keys.createCertificateRequest({
        commonName,
        organizations: ["system:nodes"],
        dnsNames: [name],
        ipAddresses,
      });
      const as = server.transport({ name: commonName, groups: ["system:nodes", "system:masters"] });
      await createKubeClient(as)
        .resource<RequestObject>(requestType)
        .create({
          metadata: { generateName: "csr-" },
          spec: {
            request: Buffer.from(request).toString("base64"),
            signerName: "kubernetes.io/kubelet-serving",
            usages: ["digital signature", "server auth"],
          },
        });
    },
    async deny() {
      for (const request of await world.requests())
        await client
          .resource<RequestObject>(requestType)
          .subresource<RequestObject>("approval")
          .update({ name: request.metadata?.name ?? "" }, { ...request, status: { conditions: [{ type: "Denied", status: "True" }] } });
    },
    requests: async () => (await client.resource<RequestObject>(requestType).list()).items,
    async look(approver) {
      certificates.look(place, approver, log);
      // Keys and their library are real: their work ends when it ends.
      while (certificates.seen().isAsking) await new Promise((resolve) => setImmediate(resolve));
      return certificates.seen();
    },
  };
  try {
    await use(world);
  } finally {
    certificates.close();
    server.close();
  }
}

const decided = async (world: World): Promise<readonly string[]> =>
  (await world.requests()).flatMap(({ status }) => (status?.conditions ?? []).map(({ type }) => type));

test("without an approver requests are listed in one call, by a user that may approve none of them", () =>
  withCluster(async (world) => {
    await world.ask();
    const { pending } = await world.look();
    assert.deepEqual(
      pending?.map(({ username, refusal }) => [username, refusal]),
      [["system:node:node-1", undefined]],
    );
    assert.deepEqual(world.sent, ["GET certificatesigningrequests"]);
    assert.deepEqual(world.users, reads.slice(0, 1));
    assert.equal(world.woken, 1);
    await world.look();
    assert.equal(world.woken, 1, "nothing new wakes nobody");
  }));

test("an approver approves a genuine request of its machine, once, and tells of it", () =>
  withCluster(async (world) => {
    await world.ask();
    assert.deepEqual((await world.look(world.approver)).pending, []);
    assert.deepEqual(await decided(world), ["Approved"]);
    assert.deepEqual(world.approved, ["demo-1 csr-"]);
    assert.deepEqual(world.users, [...reads, "talos-operator.dev:certificates"]);
    world.sent.length = 0;
    await world.look(world.approver);
    assert.deepEqual(world.sent, ["GET certificatesigningrequests"], "where nobody asks, Nodes are not listed");
  }));

test("what is asked beyond the machine's own stays, with the reason", () =>
  withCluster(async (world) => {
    await world.ask({ ipAddresses: ["10.0.0.1", "10.0.0.7"] });
    await world.ask({ name: "node-2" });
    const { pending } = await world.look(world.approver);
    assert.match(pending?.[0]?.refusal ?? "", /10\.0\.0\.7/u);
    assert.match(pending?.[1]?.refusal ?? "", /there is no Node "node-2"/u);
    assert.deepEqual(world.users, reads, "nobody who could approve was there");
    assert.deepEqual(await decided(world), []);
  }));

test("right before an approval it is asked whether the machine may still be touched", () =>
  withCluster(async (world) => {
    await world.ask();
    const paused = (): Promise<number> => Promise.reject(new EffectError("MODE_CHANGED", "paused"));
    const { pending } = await world.look({ ...world.approver, demand: paused });
    assert.match(pending?.[0]?.refusal ?? "", /demo-1 is left alone/u);
    const lost = (): Promise<number> => Promise.reject(new EffectError("NOT_LEADING", "another process holds the lease"));
    assert.equal((await world.look({ ...world.approver, demand: lost })).pending?.length, 1);
    assert.deepEqual(await decided(world), []);
  }));

test("a request that somebody decides about meanwhile keeps that decision", () =>
  withCluster(async (world) => {
    await world.ask();
    const demand = async (): Promise<number> => {
      await world.deny();
      return 20_000;
    };
    await world.look({ ...world.approver, demand });
    assert.deepEqual(await decided(world), ["Denied"]);
    assert.deepEqual((await world.look(world.approver)).pending, []);
  }));

test("an API that does not answer takes nothing back", () =>
  withCluster(async (world) => {
    await world.ask();
    await world.look();
    world.answer = () => new Error("gone");
    const { pending } = await world.look();
    assert.equal(pending?.length, 1);
    world.answer = (request) => (request.path.endsWith("/nodes") ? { status: 503, headers: {}, body: {} } : undefined);
    await world.look(world.approver);
    assert.deepEqual(await decided(world), []);
  }));

test("it is not asked twice at a time, and not after the end", () =>
  withCluster(async (world) => {
    const place = { addresses: () => [], endpoint: "", authority: () => Promise.resolve(pair) };
    const looking = world.look();
    world.certificates.look(place, undefined, log);
    await looking;
    assert.equal(world.sent.length, 1);
    world.certificates.close();
    world.certificates.look(place, undefined, log);
    assert.equal(world.certificates.seen().isAsking, false);
  }));
