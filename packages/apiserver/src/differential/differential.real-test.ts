// Genuine parts: etcd, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type GenuineApi, HANGS_AFTER_MS, KUBECTL_WAITS, startGenuineApi, tool } from "@talos-operator/adapters/testing";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KubeTransport } from "@talos-operator/ports";
import { differences, differentialCrds, differentialGroups, objectNameOf, runCase, type Answer } from "./index.ts";

const testdata = join(import.meta.dirname, "../../testdata/differential");
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// UPDATE_GOLDENS=1 records what the genuine server says; read the diff like code.
describe("kube-apiserver answers as the goldens say", () => {
  let api: GenuineApi;
  let transport: KubeTransport;
  before(async () => {
    api = await startGenuineApi();
    transport = createHttpsTransport((await loadKubeconfig({ path: api.kubeconfig })).config);
    for (const crd of differentialCrds) {
      const answer = await transport.send({ method: "POST", path: crds, body: crd });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
    const kubectl = (...args: readonly string[]): void => {
      const { status, stderr } = spawnSync(tool("kubectl"), ["--kubeconfig", api.kubeconfig, ...args]);
      assert.equal(status, 0, stderr.toString());
    };
    kubectl("wait", "--for=condition=Established", KUBECTL_WAITS, "crd", "--all");
    // Established says that the kinds are accepted; the handler that serves them follows a moment later.
    kubectl("get", "valuekinds,rulekinds,mergekinds,costkinds,decodekinds", `--request-timeout=${HANGS_AFTER_MS / 1_000}s`);
  });
  after(async () => {
    transport.close();
    await api.stop();
  });

  for (const [group, cases] of Object.entries(differentialGroups)) {
    it(group, async () => {
      const file = join(testdata, `${group}.json`);
      const answers: Record<string, Answer[]> = {};
      for (const one of cases) answers[one.name] = await runCase(transport, one, objectNameOf(one));
      if (process.env["UPDATE_GOLDENS"] === "1") {
        const lines = Object.entries(answers).map(
          ([name, found]) => `  ${JSON.stringify(name)}: [\n${found.map((answer) => `    ${JSON.stringify(answer)}`).join(",\n")}\n  ]`,
        );
        writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
      }
      const golden = JSON.parse(readFileSync(file, "utf8")) as Record<string, Answer[]>;
      for (const one of cases) assert.deepEqual(differences(golden[one.name] ?? [], answers[one.name] ?? []), [], one.name);
    });
  }
});
