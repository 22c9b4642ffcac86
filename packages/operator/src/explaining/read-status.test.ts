import assert from "node:assert/strict";
import { it } from "node:test";
import { createKubeClient, KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { KubeRequest, KubeResponse } from "@talos-operator/ports";
import { readTreeInput } from "./read-status.ts";

const found: KubeResponse = {
  status: 200,
  headers: {},
  body: { kind: "List", metadata: { resourceVersion: "1" }, items: [] },
};
const refused = (status: number, reason: string): KubeResponse => ({
  status,
  headers: {},
  body: { kind: "Status", status: "Failure", reason, message: reason, code: status },
});

function answering(answer: (path: string) => KubeResponse): KubeClient {
  return createKubeClient({
    send: (request: KubeRequest) => Promise.resolve(answer(request.path)),
    watch: () => Promise.reject(new Error("nobody watches")),
    close: () => undefined,
  });
}

for (const [what, answer] of [
  ["are not served", refused(404, "NotFound")],
  ["may not be read", refused(403, "Forbidden")],
] as const)
  it(`reads the rest where KubernetesClusters ${what}`, async () => {
    const client = answering((path) => (path.includes("vitistack.io") ? answer : found));
    assert.deepEqual((await readTreeInput(client, "default")).kubernetesClusters, []);
  });

it("does not take silence or a missing right for an empty cluster", async () => {
  for (const answer of [refused(403, "Forbidden"), refused(404, "NotFound"), refused(500, "InternalError")])
    await assert.rejects(readTreeInput(answering((path) => (path.includes("talosmachines") ? answer : found))), KubeApiError);
});
