import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeAdvice } from "./advice-rules.ts";

/** What is reported of a status or an event that is written. */
function written(body: object): readonly string[] {
  const found: string[] = [];
  const path = "/apis/talos.alperen.cloud/v1alpha1/namespaces/default/talosworkers/a/status";
  judgeAdvice({ method: "PATCH", path, body }, (invariant) => void found.push(invariant));
  return found;
}

const told = (type: string, reason: string, message: string): object => ({
  status: { conditions: [{ type, status: "False", reason, message }] },
});

test("S35 is broken by words that a machine does not survive, by reasons to which they belong, and by events", () => {
  assert.deepEqual(written(told("Ready", "IdentityMismatch", "Reset it into maintenance mode.")), ["S35"]);
  assert.deepEqual(written(told("Ready", "ForeignCluster", "It is another cluster's.")), ["S35"]);
  assert.deepEqual(written({ note: "Give it up: talos-operator.dev/abandon-machine." }), ["S35"]);
  assert.deepEqual(written(told("Ready", "SecretsLost", "The Secret is gone. Restore it from a backup.")), []);
  assert.deepEqual(written({ note: "etcd is healthy." }), []);
});
