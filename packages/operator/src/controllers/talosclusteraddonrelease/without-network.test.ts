import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Cni } from "@talos-operator/api";
import { controlPlane, facts } from "../../testing/index.ts";
import { lacksNetwork, withoutWaits } from "./without-network.ts";

const cases: readonly (readonly [string, Cni, string | undefined, boolean])[] = [
  ["the engine says so", {}, "NoNetworkPlugin", true],
  ["it was made with none, and nobody has looked at its Nodes", { name: "none" }, undefined, true],
  ["it was made with none, and was not bootstrapped when somebody looked", { name: "none" }, "NotBootstrapped", true],
  ["it was made with none, and its Nodes lack something else", { name: "none" }, "NodesNotReady", false],
  ["it was made with none, and its Nodes are Ready", { name: "none" }, "AllNodesReady", false],
  ["Talos brings the plugin, and nobody has looked at its Nodes", {}, undefined, false],
];

describe("a cluster lacks its network", () => {
  for (const [name, cni, reason, wanted] of cases)
    it(`${wanted ? "when" : "not when"} ${name}`, () => {
      const lastTransitionTime = "2026-01-01T00:00:00Z";
      const conditions =
        reason === undefined ? [] : [{ type: "NodesReady", status: "False" as const, reason, message: "", lastTransitionTime }];
      assert.equal(lacksNetwork({ ...controlPlane(1), status: { conditions } }, facts({ cni })), wanted);
    });
});

it("a run that must not wait keeps all its other switches", () => {
  assert.deepEqual(withoutWaits({ wait: true, waitForJobs: true, atomic: true, timeoutMs: 1, skipCRDs: true }), {
    timeoutMs: 1,
    skipCRDs: true,
  });
});
