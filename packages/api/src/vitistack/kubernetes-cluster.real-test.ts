// Genuine parts: etcd, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { KUBECTL_WAITS } from "@talos-operator/adapters/testing";
import { assertClusterRule, clusterRuleCases, publishedCrds } from "../testing/index.ts";
import { startRealApiServer } from "../testing/real-api-server.ts";
import type { RealApiServer } from "../testing/real-api-server.ts";

describe("KubernetesCluster on a genuine kube-apiserver", () => {
  let server: RealApiServer;

  before(async () => {
    server = await startRealApiServer();
    const file = join(import.meta.dirname, "../../../../config/crd/vitistack.io_kubernetesclusters.yaml");
    await server.kubectl("apply", "--server-side", "-f", file);
    await server.kubectl("wait", "--for=condition=Established", KUBECTL_WAITS, "-f", file);
  });
  after(() => server.close());

  for (const [index, ruleCase] of clusterRuleCases.entries())
    it(ruleCase.name, () => assertClusterRule(server.transport, `demo-${index}`, ruleCase));

  it("finds a Machine of others that refuses an apply with spec.talosConfig, and prunes it from a create", async () => {
    const crd = publishedCrds().find(({ spec }) => spec.names.kind === "Machine");
    const file = join(mkdtempSync(join(tmpdir(), "talos-operator-crd-")), "crd.json");
    writeFileSync(file, JSON.stringify(crd));
    await server.kubectl("apply", "--warnings-as-errors", "--server-side", "-f", file);
    await server.kubectl("wait", "--for=condition=Established", KUBECTL_WAITS, "-f", file);
    rmSync(dirname(file), { recursive: true });
    const path = "/apis/vitistack.io/v1alpha1/namespaces/default/machines";
    const machine = {
      apiVersion: "vitistack.io/v1alpha1",
      kind: "Machine",
      metadata: { name: "m", namespace: "default" },
      spec: { provider: "p", talosConfig: { machineType: "worker" } },
    };
    const headers = { "content-type": "application/apply-patch+yaml" };
    const applied = await server.transport.send({
      method: "PATCH",
      path: `${path}/m`,
      query: { fieldManager: "t" },
      headers,
      body: machine,
    });
    assert.equal(applied.status, 500);
    assert.match(JSON.stringify(applied.body), /\.spec\.talosConfig: field not declared in schema/);
    const created = await server.transport.send({ method: "POST", path, body: machine });
    assert.deepEqual((created.body as { readonly spec: unknown }).spec, { provider: "p" });
  });

  it("explains its fields, those of both forms of workers among them", async () => {
    // What kubectl knows of the server is older than the kind.
    await server.kubectl("api-resources", "--cached=false");
    assert.match(await server.kubectl("explain", "kc.spec.controlPlane.replicas"), /Number of control planes/);
    assert.match(await server.kubectl("explain", "kc.spec.topology.workers"), /a list of groups, or an object/);
  });
});
