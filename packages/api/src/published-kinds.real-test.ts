// Genuine parts: etcd, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { KUBECTL_WAITS } from "@talos-operator/adapters/testing";
import {
  assertBackupRule,
  backupRuleCases,
  corpusCrds,
  corpusScope,
  isWidenedShape,
  loadManifestCorpus,
  runManifestCorpus,
  widenedManifests,
} from "./testing/index.ts";
import { startRealApiServer } from "./testing/real-api-server.ts";
import type { RealApiServer } from "./testing/real-api-server.ts";

const examples = join(import.meta.dirname, "../../../examples");
const publishedKinds = corpusCrds.map(({ spec }) => spec.names.kind);

describe("the CRDs on a genuine kube-apiserver", () => {
  let server: RealApiServer;

  before(async () => {
    server = await startRealApiServer();
  });
  after(() => server.close());

  it("installs every CRD from config/crd without a warning", async () => {
    const folder = join(import.meta.dirname, "../../../config/crd");
    const folders = ["-f", folder, "-f", join(folder, "companions")];
    await server.kubectl("apply", "--warnings-as-errors", "--server-side", ...folders);
    await server.kubectl("wait", "--for=condition=Established", KUBECTL_WAITS, ...folders);
    for (const crd of corpusCrds) {
      const stored = JSON.parse(await server.kubectl("get", "crd", crd.metadata.name, "-o", "json")) as {
        status: { conditions: { type: string; status: string }[] };
      };
      assert.equal(
        stored.status.conditions.find((condition) => condition.type === "NonStructuralSchema"),
        undefined,
        crd.metadata.name,
      );
    }
  });

  it("gives every manifest the verdict and the stored spec of the published CRDs", async () => {
    const subject = { transport: server.transport, namespace: "default", ...corpusScope };
    const differences = await runManifestCorpus(subject, loadManifestCorpus());
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

  it("gives the manifests of MANIFEST_DIR their verdict", { skip: process.env.MANIFEST_DIR === undefined }, async () => {
    const subject = { transport: server.transport, namespace: "default", ...corpusScope };
    const cases = loadManifestCorpus(process.env.MANIFEST_DIR, publishedKinds).filter(({ object }) => !isWidenedShape(object));
    assert.ok(cases.length > 0);
    const differences = await runManifestCorpus(subject, cases);
    assert.deepEqual(
      differences.filter(({ file }) => !widenedManifests().has(file)),
      [],
    );
  });

  for (const ruleCase of backupRuleCases) it(`TalosEtcdBackup ${ruleCase.name}`, () => assertBackupRule(server.transport, ruleCase));

  it("takes every example", async () => {
    for (const folder of ["first-cluster", "real-hardware"])
      await server.kubectl("apply", "--server-side", "--dry-run=server", "-f", join(examples, folder));
    for (const file of ["", "-schedule", "-directory"])
      await server.kubectl("apply", "--server-side", "--dry-run=server", "-f", join(examples, `talos-etcd-backup${file}.yaml`));
  });

  it("lists the kinds with the published columns, and ours after them", async () => {
    await server.kubectl(
      "apply",
      "--server-side",
      "-f",
      join(import.meta.dirname, "../testdata/manifests/own-accept.cp-metal.TalosControlPlane.yaml"),
    );
    const table = await server.kubectl("get", "tcp");
    assert.match(table.split("\n")[0] ?? "", /^NAME +STATE +VERSION +KUBEVERSION +MODE +AGE +READY +STATUS +MACHINES +UPGRADED$/);
  });
});
