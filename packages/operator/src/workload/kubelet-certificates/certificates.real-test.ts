// Genuine parts: etcd, kube-apiserver, kube-controller-manager
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createX509Keys, systemClock } from "@talos-operator/adapters";
import { until } from "@talos-operator/adapters/testing";
import { isForbidden } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsWorkloadDialer } from "@talos-operator/kube-runtime/https";
import type { KeyPair } from "@talos-operator/ports";
import { nodeType } from "../kinds.ts";
import type { NodeObject } from "../kinds.ts";
import { startGenuineCluster } from "../testing/adapters/genuine-cluster.ts";
import type { GenuineCluster } from "../testing/adapters/genuine-cluster.ts";
import { openWorkloadApi } from "../workload-api.ts";
import type { WorkloadUser } from "../workload-api.ts";
import { ClusterCertificates } from "./cluster-certificates.ts";
import type { Approver } from "./cluster-certificates.ts";
import { requestType } from "./requests.ts";
import type { RequestObject } from "./requests.ts";
import type { SeenCertificates } from "../../model/workload.ts";

const uuid = "11111111-2222-3333-4444-555555555555";
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
const keys = createX509Keys();

describe("serving certificates of kubelets on a genuine kube-apiserver", () => {
  let cluster: GenuineCluster;
  const place = {
    addresses: () => [cluster.address],
    endpoint: "https://127.0.0.1:1",
    authority: (): Promise<KeyPair> => Promise.resolve(cluster.authority),
  };
  const ports = (): Parameters<typeof openWorkloadApi>[2] => ({
    dialer: createHttpsWorkloadDialer(),
    keys,
    clock: systemClock,
  });
  const as = async <T>(user: WorkloadUser, work: (client: KubeClient) => Promise<T>): Promise<T> => {
    const api = await openWorkloadApi(user, place, ports());
    try {
      return await work(api.client);
    } finally {
      api.close();
    }
  };
  /** As the kubelet of that Node: with its own certificate, so that the API server itself writes down who asks. */
  const ask = async (name: string, ipAddresses: readonly string[]): Promise<string> => {
    const subject = { commonName: `system:node:${name}`, organizations: ["system:nodes"], dnsNames: [name], ipAddresses };
    const { request } = await keys.createCertificateRequest(subject);
    const spec = {
      request: Buffer.from(request).toString("base64"),
      signerName: "kubernetes.io/kubelet-serving",
      usages: ["digital signature", "server auth"],
    };
    const made = await as({ kind: "node", name }, (client) =>
      client.resource<RequestObject>(requestType).create({ metadata: { generateName: "csr-" }, spec }),
    );
    return made.metadata?.name ?? "";
  };
  const decided = async (name: string): Promise<readonly string[]> => {
    const { status } = await cluster.admin.resource<RequestObject>(requestType).get({ name });
    return (status?.conditions ?? []).map(({ type }) => type);
  };
  const look = async (approver?: Approver): Promise<SeenCertificates> => {
    const certificates = new ClusterCertificates(ports(), () => undefined);
    certificates.look(place, approver, log);
    await until("it is answered", () => !certificates.seen().isAsking);
    certificates.close();
    return certificates.seen();
  };
  const approver: Approver = {
    machines: [{ machine: "demo-1", uuid, address: "10.5.0.1", nodeName: "first" }],
    reserved: [],
    networks: [],
    demand: () => Promise.resolve(30_000),
    approved: () => undefined,
  };

  before(async () => {
    cluster = await startGenuineCluster();
    const nodes = cluster.admin.resource<NodeObject>(nodeType);
    await nodes.create({ metadata: { name: "first" } });
    const status = { addresses: [{ type: "InternalIP", address: "10.5.0.1" }], nodeInfo: { systemUUID: uuid } };
    await nodes.patchStatus({ name: "first" }, { type: "merge", value: { status } });
  });
  after(() => cluster?.close());

  it("are listed by a user that may approve none of them, approved for what is the machine's own, and for nothing else", async () => {
    const own = await ask("first", ["10.5.0.1"]);
    const { pending } = await look();
    assert.deepEqual(
      pending?.map(({ request, username }) => [request, username]),
      [[own, "system:node:first"]],
    );
    const object = await cluster.admin.resource<RequestObject>(requestType).get({ name: own });
    for (const kind of ["certificates", "nodes"] as const)
      await assert.rejects(
        as({ kind }, (client) =>
          client
            .resource<RequestObject>(requestType)
            .subresource<RequestObject>("approval")
            .update({ name: own }, { ...object, status: { conditions: [{ type: "Approved", status: "True" }] } }),
        ),
        isForbidden,
      );
    assert.deepEqual((await look(approver)).pending, []);
    assert.deepEqual(await decided(own), ["Approved"]);
    const others = [await ask("first", ["10.5.0.1", "10.5.0.2"]), await ask("second", ["10.5.0.1"])];
    const refused = (await look(approver)).pending ?? [];
    assert.deepEqual(refused.map(({ request }) => request).toSorted(), others.toSorted());
    assert.ok(refused.every(({ refusal }) => refusal !== undefined));
    for (const name of others) assert.deepEqual(await decided(name), []);
  });
});
