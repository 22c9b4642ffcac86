import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KubeTransport } from "@talos-operator/ports";
import { differences, differentialCrds, differentialGroups, objectNameOf, runCase, type Answer } from "./index.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"] ?? "";
const hack = join(import.meta.dirname, "../../../../hack/tools");
const testdata = join(import.meta.dirname, "../../testdata/differential");
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// UPDATE_GOLDENS=1 records what the genuine server says; read the diff like code.
describe("kube-apiserver answers as the goldens say", () => {
  const folder = mkdtempSync(join(tmpdir(), "differential-"));
  let transport: KubeTransport;
  before(async () => {
    const log = join(folder, "start.log");
    const env = { ...process.env, BIN: tools };
    const started = spawnSync("bash", ["-c", `"$0" "$1" > "$2" 2>&1`, join(hack, "start-apiserver.sh"), folder, log], { env });
    assert.equal(started.status, 0, readFileSync(log, "utf8"));
    transport = createHttpsTransport((await loadKubeconfig({ path: join(folder, "kubeconfig") })).config);
    for (const crd of differentialCrds) {
      const answer = await transport.send({ method: "POST", path: crds, body: crd });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
    const kubectl = [join(tools, "kubectl"), "--kubeconfig", join(folder, "kubeconfig")] as const;
    const waited = spawnSync(kubectl[0], [...kubectl.slice(1), "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]);
    assert.equal(waited.status, 0, waited.stderr.toString());
    // Established says that the kinds are accepted; the handler that serves them follows a moment later.
    const published = spawnSync(kubectl[0], [
      ...kubectl.slice(1),
      "get",
      "valuekinds,rulekinds,mergekinds,costkinds,decodekinds",
      "--request-timeout=30s",
    ]);
    assert.equal(published.status, 0, published.stderr.toString());
  });
  after(() => {
    transport.close();
    spawnSync("bash", [join(hack, "stop-apiserver.sh"), folder]);
    rmSync(folder, { recursive: true, force: true });
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
