import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { nodeAt } from "./cluster-pods.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const annotation = "talos-operator.dev/approve-kubelet-certificates";
const rotating = { machine: { kubelet: { extraArgs: { "rotate-server-certificates": "true" } } } };
const requests: ResourceType = {
  group: "certificates.k8s.io",
  version: "v1",
  plural: "certificatesigningrequests",
  kind: "CertificateSigningRequest",
  namespaced: false,
};

type Request = KubeObject & {
  readonly spec?: { readonly username?: string; readonly groups?: readonly string[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason?: string }[] };
};

async function ready(world: Story, patches: readonly object[] = [rotating]): Promise<void> {
  const metalSpec = { machines: cps.map((address) => ({ address })), machineSpec: { installDisk: "/dev/sda", configPatches: patches } };
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(cps, [], { metalSpec }));
  await world.start();
  await world.untilReady();
}

const all = async (world: Story): Promise<readonly Request[]> => (await world.workload().resource<Request>(requests).list()).items;
const decisions = async (world: Story): Promise<readonly string[]> =>
  (await all(world)).map(({ status }) => (status?.conditions ?? []).map(({ type }) => type).join(",")).toSorted();
const said = async (world: Story): Promise<string | undefined> =>
  (await world.condition(kinds.controlPlane, "KubeletCertificatesPending"))?.reason;
const lists = (world: Story): number => world.workloadWrites.filter((write) => write.includes("certificatesigningrequests")).length;

/** As a kubelet with stolen or broken ways would ask: for this name and this address, as the user that the API server knows. */
async function ask(world: Story, username: string, over: { readonly dnsNames?: string[]; readonly ipAddresses?: string[] }): Promise<void> {
  const { request } = await world.keys.createCertificateRequest({ commonName: username, organizations: ["system:nodes"], ...over });
  const transport = world.workload().transport;
  const answer = await transport.send({
    method: "POST",
    path: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    headers: { "impersonate-user": username, "impersonate-group": "system:nodes" },
    body: {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { generateName: "csr-" },
      spec: {
        request: Buffer.from(request).toString("base64"),
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["digital signature", "server auth"],
      },
    },
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

test("kubelets that ask for serving certificates are told of, and nothing is approved unasked", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.until("told", async () => (await said(world)) === "NobodyApproves");
    const condition = await world.condition(kinds.controlPlane, "KubeletCertificatesPending");
    for (const address of cps)
      assert.ok(condition?.message.includes((await nodeAt(world, address))?.metadata?.name ?? "-"), condition?.message);
    assert.match(condition?.message ?? "", /since 20\d\d-/);
    assert.match(condition?.message ?? "", /approve-kubelet-certificates/);
    assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True", "the cluster is as asked for");
    await world.time.advance(600_000);
    assert.deepEqual(await decisions(world), ["", "", ""]);
    assert.equal(lists(world), 0, "nothing was written there");
    await world.workload().resource<Request>(requests).deleteCollection({});
    await world.until("released", async () => (await said(world)) === undefined);
  }));

test("a cluster whose kubelets do not ask is not looked at for it", () =>
  tell({}, async (world) => {
    await ready(world, []);
    await ask(world, "system:node:stranger", { dnsNames: ["stranger"] });
    await world.time.advance(600_000);
    assert.equal(await said(world), undefined);
  }));

test("with a person's word the requests of our own machines are approved, and no other", () =>
  tell({}, async (world) => {
    await ready(world);
    const name = (await nodeAt(world, "10.5.0.1"))?.metadata?.name ?? "";
    await world.annotate(kinds.controlPlane, annotation, "true");
    await world.until("approved", async () => (await decisions(world)).every((one) => one === "Approved"));
    await world.until("released", async () => (await said(world)) === undefined);
    assert.deepEqual(
      (await all(world)).flatMap(({ status }) => (status?.conditions ?? []).map(({ reason }) => reason)),
      ["KnownMachine", "KnownMachine", "KnownMachine"],
    );
    await ask(world, `system:node:${name}`, { dnsNames: [name], ipAddresses: ["10.5.0.2"] });
    await ask(world, "system:node:stranger", { dnsNames: ["stranger"], ipAddresses: ["10.5.0.9"] });
    await world.until("refused", async () => (await said(world)) === "Refused");
    const message = (await world.condition(kinds.controlPlane, "KubeletCertificatesPending"))?.message ?? "";
    assert.match(message, /the address "10\.5\.0\.2"/);
    assert.match(message, /there is no Node "stranger"/);
    await world.time.advance(600_000);
    assert.deepEqual(await decisions(world), ["", "", "Approved", "Approved", "Approved"]);
    const { items } = await world.client.resource<KubeObject & { readonly reason?: string }>(kinds.event).list({ namespace: "default" });
    assert.equal(
      items.some(({ reason }) => reason === "KubeletCertificateApproved"),
      true,
    );
  }));

test("another word than true approves nothing, and a paused cluster is left alone", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.controlPlane, annotation, "yes");
    await world.time.advance(300_000);
    assert.deepEqual(await decisions(world), ["", "", ""]);
    await world.annotate(kinds.controlPlane, "talos.alperen.cloud/reconcile-mode", "disable");
    await world.annotate(kinds.controlPlane, annotation, "true");
    await world.time.advance(300_000);
    assert.deepEqual(await decisions(world), ["", "", ""]);
    await world.annotate(kinds.controlPlane, "talos.alperen.cloud/reconcile-mode", undefined);
    await world.until("approved", async () => (await decisions(world)).every((one) => one === "Approved"));
  }));

test("an operator that is killed while it approves leaves nothing half done, and the next one goes on", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.annotate(kinds.controlPlane, annotation, "true");
    await world.until("begun", async () => (await decisions(world)).includes("Approved"));
    await world.kill();
    await world.start();
    await world.until("approved", async () => (await decisions(world)).every((one) => one === "Approved"));
    await world.until("released", async () => (await said(world)) === undefined);
    assert.deepEqual(await decisions(world), ["Approved", "Approved", "Approved"]);
  }));
