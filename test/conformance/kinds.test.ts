import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { crds } from "@talos-operator/api";
import { assertRecordRule, loadManifestCorpus, recordRuleCases, runManifestCorpus, widenedManifests } from "@talos-operator/api/testing";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import type { ApiServer } from "@talos-operator/apiserver";
import type { KubeTransport } from "@talos-operator/ports";

/** The same suite that `packages/api` runs against a genuine kube-apiserver. */
describe("the CRDs on the embedded Kubernetes API", () => {
  let server: ApiServer;
  let transport: KubeTransport;
  const pluralOf = (kind: string) => crds.find((crd) => crd.spec.names.kind === kind)?.spec.names.plural ?? kind.toLowerCase();

  before(async () => {
    server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    transport = server.transport({ name: "admin", groups: ["system:masters"] });
    for (const crd of crds) {
      const created = await transport.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: crd });
      assert.equal(created.status, 201, JSON.stringify(created.body));
    }
  });
  after(() => server.close());

  it("give every manifest the verdict and the stored spec of the published CRDs", async () => {
    const differences = await runManifestCorpus({ transport, namespace: "default", pluralOf }, loadManifestCorpus());
    assert.deepEqual(
      differences.filter(({ file }) => !widenedManifests().has(file)),
      [],
    );
    for (const file of widenedManifests())
      assert.ok(
        differences.some((one) => one.file === file && one.got.startsWith("accept")),
        file,
      );
  });

  it("give the manifests of MANIFEST_DIR their verdict", { skip: process.env.MANIFEST_DIR === undefined }, async () => {
    const cases = loadManifestCorpus(process.env.MANIFEST_DIR, ["TalosCluster", "TalosControlPlane", "TalosWorker", "TalosMachine"]);
    assert.ok(cases.length > 0);
    const differences = await runManifestCorpus({ transport, namespace: "default", pluralOf }, cases);
    assert.deepEqual(
      differences.filter(({ file }) => !widenedManifests().has(file)),
      [],
    );
  });

  for (const [index, ruleCase] of recordRuleCases.entries())
    it(`ClusterRecord ${ruleCase.name}`, () => assertRecordRule(transport, `demo-${index}`, ruleCase));
});
