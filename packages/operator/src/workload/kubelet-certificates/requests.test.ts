import assert from "node:assert/strict";
import { it } from "node:test";
import { openRequests } from "./requests.ts";
import type { RequestObject } from "./requests.ts";

const at = (minutes: number): string => new Date(minutes * 60_000).toISOString();
const request = (name: string, minutes: number, status: RequestObject["status"] = {}, username = "system:node:a"): RequestObject => ({
  metadata: { name, creationTimestamp: at(minutes) },
  spec: { signerName: "kubernetes.io/kubelet-serving", username },
  status,
});
const approved = { conditions: [{ type: "Approved", status: "True" }] };
const shown = (...objects: readonly RequestObject[]): readonly (readonly [string, string, number])[] =>
  openRequests(objects).map(({ object, username, since }) => [username, object.metadata?.name ?? "", since / 60_000]);

it("a kubelet's newest request stands for it, since its first one", () => {
  assert.deepEqual(shown(request("x", 1), request("z", 31), request("y", 16)), [["system:node:a", "z", 1]]);
});

it("what was decided answers what was asked before", () => {
  assert.deepEqual(shown(request("x", 1), request("y", 16, approved)), []);
  assert.deepEqual(shown(request("x", 1), request("y", 16, { conditions: [{ type: "Denied", status: "True" }] })), []);
  assert.deepEqual(shown(request("x", 1), request("y", 16, { certificate: "LS0t" })), []);
  assert.deepEqual(shown(request("x", 1), request("y", 16, approved), request("z", 400)), [["system:node:a", "z", 400]]);
});

it("of two in one second the one that nobody decided is the newer", () => {
  assert.deepEqual(shown(request("x", 1, approved), request("y", 1)), [["system:node:a", "y", 1]]);
  assert.deepEqual(shown(request("y", 1, approved), request("x", 1)), [["system:node:a", "x", 1]]);
});

it("each kubelet has its own, in the order of their names", () => {
  assert.deepEqual(shown(request("x", 1, {}, "system:node:b"), request("y", 2)), [
    ["system:node:a", "y", 2],
    ["system:node:b", "x", 1],
  ]);
});

it("requests of other signers are nobody's matter", () => {
  const other = { ...request("x", 1), spec: { signerName: "kubernetes.io/kube-apiserver-client-kubelet", username: "system:node:a" } };
  assert.deepEqual(shown(other, {}), []);
});
