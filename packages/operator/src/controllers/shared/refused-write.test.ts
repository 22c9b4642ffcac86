import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { conditionFor } from "@talos-operator/api";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeApiErrorCode } from "@talos-operator/kube-runtime";
import { tellingRefusals, withRefusal } from "./refused-write.ts";

const failure = (code: KubeApiErrorCode): KubeApiError =>
  new KubeApiError(code, { call: "create talosmachines", detail: "exceeded quota" });
const making = [
  conditionFor("Ready", "Composing", "TalosMachines are being made.", 1),
  conditionFor("Progressing", "Composing", "TalosMachines are being made.", 1),
  conditionFor("NodesReady", "NodesNotReady", "x", 1),
];

describe("a write that the API server refuses", () => {
  for (const code of ["FORBIDDEN", "UNAUTHORIZED", "INVALID", "BAD_REQUEST", "TOO_LARGE"] as const)
    it(`is told in the conditions with what the server said: ${code}`, () => {
      const [ready, progressing, nodes] = withRefusal(making, failure(code), 1);
      assert.deepEqual([ready?.status, ready?.reason, progressing?.reason], ["False", "WriteRefused", "Blocked"]);
      assert.match(ready?.message ?? "", /exceeded quota/);
      assert.equal(nodes, making[2]);
    });

  for (const code of ["CONFLICT", "ALREADY_EXISTS", "UNAVAILABLE"] as const)
    it(`is no refusal where the next pass may succeed: ${code}`, () => assert.equal(withRefusal(making, failure(code), 1), making));

  it("is told to people before it is thrown", async () => {
    const told: string[] = [];
    const refused = failure("FORBIDDEN");
    const write = (thrown: KubeApiError) =>
      tellingRefusals(
        () => Promise.reject(thrown),
        async ({ code }) => void told.push(code),
      );
    await assert.rejects(write(refused), refused);
    await assert.rejects(write(failure("CONFLICT")));
    assert.deepEqual(told, ["FORBIDDEN"]);
  });
});
