import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { corpusScope, loadManifestCorpus, publishedCrds, runManifestCorpus } from "@talos-operator/api/testing";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import type { ApiServer } from "@talos-operator/apiserver";
import type { KubeTransport } from "@talos-operator/ports";

describe("the CRDs that somebody else has installed", () => {
  let server: ApiServer;
  let transport: KubeTransport;

  before(async () => {
    server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    transport = server.transport({ name: "admin", groups: ["system:masters"] });
    for (const crd of publishedCrds()) {
      const created = await transport.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: crd });
      assert.equal(created.status, 201, JSON.stringify(created.body));
    }
  });
  after(() => server.close());

  it("are rebuilt so that every manifest gets the recorded verdict, with nothing wider", async () => {
    const kinds = publishedCrds().map(({ spec }) => spec.names.kind);
    const cases = loadManifestCorpus(undefined, kinds);
    assert.ok(cases.length > 50);
    assert.deepEqual(await runManifestCorpus({ transport, namespace: "default", ...corpusScope }, cases), []);
  });

  it("refuse a server-side apply with spec.talosConfig, and prune it from a create", async () => {
    const path = "/apis/vitistack.io/v1alpha1/namespaces/default/machines";
    const machine = {
      apiVersion: "vitistack.io/v1alpha1",
      kind: "Machine",
      metadata: { name: "m", namespace: "default" },
      spec: { provider: "p", talosConfig: { machineType: "worker" } },
    };
    const applied = await transport.send({
      method: "PATCH",
      path: `${path}/m`,
      query: { fieldManager: "t" },
      headers: { "content-type": "application/apply-patch+yaml" },
      body: machine,
    });
    assert.equal(applied.status, 500, JSON.stringify(applied.body));
    assert.match(JSON.stringify(applied.body), /\.spec\.talosConfig: field not declared in schema/);
    const created = await transport.send({ method: "POST", path, body: machine });
    assert.equal(created.status, 201);
    assert.deepEqual((created.body as { readonly spec: unknown }).spec, { provider: "p" });
  });
});
