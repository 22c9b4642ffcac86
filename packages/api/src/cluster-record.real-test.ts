// Genuine parts: etcd, kube-apiserver, kubectl
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { KUBECTL_WAITS } from "@talos-operator/adapters/testing";
import { assertRecordRule, recordRuleCases } from "./testing/index.ts";
import { startRealApiServer } from "./testing/real-api-server.ts";
import type { RealApiServer } from "./testing/real-api-server.ts";

describe("ClusterRecord on a genuine kube-apiserver", () => {
  let server: RealApiServer;

  before(async () => {
    server = await startRealApiServer();
    const file = join(import.meta.dirname, "../../../config/crd/talos-operator.dev_clusterrecords.yaml");
    await server.kubectl("apply", "--server-side", "-f", file);
    await server.kubectl("wait", "--for=condition=Established", KUBECTL_WAITS, "-f", file);
  });
  after(() => server.close());

  for (const [index, ruleCase] of recordRuleCases.entries())
    it(ruleCase.name, () => assertRecordRule(server.transport, `demo-${index}`, ruleCase));
});
