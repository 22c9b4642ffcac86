import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { assertClusterRule, clusterRuleCases } from "../testing/index.ts";
import { startRealApiServer } from "../testing/real-api-server.ts";
import type { RealApiServer } from "../testing/real-api-server.ts";

describe("KubernetesCluster on a genuine kube-apiserver", () => {
  let server: RealApiServer;

  before(async () => {
    const tools = process.env.TALOS_OPERATOR_TOOLS;
    assert.ok(tools, "TALOS_OPERATOR_TOOLS must name the folder with the genuine binaries: run npm run test:real");
    server = await startRealApiServer(tools);
    const file = join(import.meta.dirname, "../../../../config/crd/vitistack.io_kubernetesclusters.yaml");
    await server.kubectl("apply", "--server-side", "-f", file);
    await server.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", file);
  });
  after(() => server.close());

  for (const [index, ruleCase] of clusterRuleCases.entries())
    it(ruleCase.name, () => assertClusterRule(server.transport, `demo-${index}`, ruleCase));

  it("explains its fields, those of both forms of workers among them", async () => {
    // What kubectl knows of the server is older than the kind.
    await server.kubectl("api-resources", "--cached=false");
    assert.match(await server.kubectl("explain", "kc.spec.controlPlane.replicas"), /Number of control planes/);
    assert.match(await server.kubectl("explain", "kc.spec.topology.workers"), /a list of groups, or an object/);
  });
});
