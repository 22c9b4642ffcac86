import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { assertRecordRule, recordRuleCases } from "./testing/index.ts";
import { startRealApiServer } from "./testing/real-api-server.ts";
import type { RealApiServer } from "./testing/real-api-server.ts";

describe("ClusterRecord on a genuine kube-apiserver", () => {
  let server: RealApiServer;

  before(async () => {
    const tools = process.env.TALOS_OPERATOR_TOOLS;
    assert.ok(tools, "TALOS_OPERATOR_TOOLS must name the folder with the genuine binaries: run npm run test:real");
    server = await startRealApiServer(tools);
    const file = join(import.meta.dirname, "../../../config/crd/talos-operator.dev_clusterrecords.yaml");
    await server.kubectl("apply", "--server-side", "-f", file);
    await server.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", file);
  });
  after(() => server.close());

  for (const [index, ruleCase] of recordRuleCases.entries())
    it(ruleCase.name, () => assertRecordRule(server.transport, `demo-${index}`, ruleCase));
});
