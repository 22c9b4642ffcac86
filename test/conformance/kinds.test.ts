import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import {
  assertBackupRule,
  assertClusterRule,
  assertRecordRule,
  backupRuleCases,
  clusterRuleCases,
  corpusCrds,
  corpusScope,
  isWidenedShape,
  loadManifestCorpus,
  recordRuleCases,
  runManifestCorpus,
  widenedManifests,
} from "@talos-operator/api/testing";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import type { ApiServer } from "@talos-operator/apiserver";
import type { KubeTransport } from "@talos-operator/ports";

/** The same suite that `packages/api` runs against a genuine kube-apiserver. */
describe("the CRDs on the embedded Kubernetes API", () => {
  let server: ApiServer;
  let transport: KubeTransport;

  before(async () => {
    server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    transport = server.transport({ name: "admin", groups: ["system:masters"] });
    for (const crd of corpusCrds) {
      const created = await transport.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: crd });
      assert.equal(created.status, 201, JSON.stringify(created.body));
    }
  });
  after(() => server.close());

  it("give every manifest the verdict and the stored spec of the published CRDs", async () => {
    const differences = await runManifestCorpus({ transport, namespace: "default", ...corpusScope }, loadManifestCorpus());
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
    const kinds = corpusCrds.map(({ spec }) => spec.names.kind);
    const cases = loadManifestCorpus(process.env.MANIFEST_DIR, kinds).filter(({ object }) => !isWidenedShape(object));
    assert.ok(cases.length > 0);
    const differences = await runManifestCorpus({ transport, namespace: "default", ...corpusScope }, cases);
    assert.deepEqual(
      differences.filter(({ file }) => !widenedManifests().has(file)),
      [],
    );
  });

  for (const [index, ruleCase] of recordRuleCases.entries())
    it(`ClusterRecord ${ruleCase.name}`, () => assertRecordRule(transport, `demo-${index}`, ruleCase));

  for (const [index, ruleCase] of clusterRuleCases.entries())
    it(`KubernetesCluster ${ruleCase.name}`, () => assertClusterRule(transport, `demo-${index}`, ruleCase));

  for (const ruleCase of backupRuleCases) it(`TalosEtcdBackup ${ruleCase.name}`, () => assertBackupRule(transport, ruleCase));
});
