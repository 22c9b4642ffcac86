import assert from "node:assert/strict";
import { it } from "node:test";
import { createKubeClient } from "../client/kube-client.ts";
import { createFakeApi } from "../testing/index.ts";
import { createMetricsRegistry } from "./create-metrics-registry.ts";
import { measuredTransport } from "./measured-transport.ts";

it("counts every answer, and calls that got none", async () => {
  const api = createFakeApi();
  const metrics = createMetricsRegistry();
  const client = createKubeClient(measuredTransport(api.transport(), metrics, "api:6443"));
  const maps = client.resource({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true });
  const metadata = { namespace: "ns", name: "a" };
  await maps.create({ metadata });
  await maps.tryGet(metadata);
  await maps.tryGet({ namespace: "ns", name: "b" });
  await maps.watch({ resourceVersion: "1" });
  api.onRequest = () => "break";
  await assert.rejects(maps.get(metadata));
  const lines = metrics
    .text()
    .split("\n")
    .filter((line) => line.startsWith("rest_client"));
  assert.deepEqual(lines, [
    'rest_client_requests_total{code="201",method="POST",host="api:6443"} 1',
    'rest_client_requests_total{code="200",method="GET",host="api:6443"} 2',
    'rest_client_requests_total{code="404",method="GET",host="api:6443"} 1',
    'rest_client_requests_total{code="<error>",method="GET",host="api:6443"} 1',
  ]);
});
