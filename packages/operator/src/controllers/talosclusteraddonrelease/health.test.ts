import assert from "node:assert/strict";
import { test } from "node:test";
import { whyUnready } from "./health.ts";

const settled = { observedGeneration: 2, updatedReplicas: 2, availableReplicas: 2 };
const nodes = { observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 };
const is = (type: string) => ({ conditions: [{ type, status: "True" }] });
const object = (status: object, replicas?: number) => ({
  metadata: { generation: 2 },
  spec: replicas === undefined ? {} : { replicas },
  status,
});

const cases: readonly [string, Parameters<typeof whyUnready>[0], Parameters<typeof whyUnready>[1], string | undefined][] = [
  ["a Deployment that runs", "Deployment", object(settled, 2), undefined],
  ["a Deployment that is not there", "Deployment", undefined, "it is not there"],
  ["one whose change is not taken up", "Deployment", object({ ...settled, observedGeneration: 1 }, 2), "its last change is not taken up"],
  ["one in the middle of its rollout", "Deployment", object({ ...settled, updatedReplicas: 1 }, 2), "1 of 2 updated"],
  ["one whose pod is not ready", "Deployment", object({ ...settled, availableReplicas: 1 }, 2), "1 of 2 ready"],
  ["one of no pods", "Deployment", object({ observedGeneration: 2 }, 0), undefined],
  ["one that says no number, with none", "Deployment", object({ observedGeneration: 2 }), "0 of 1 updated"],
  ["one that tells a book for a number", "DaemonSet", object({ ...nodes, desiredNumberScheduled: "9".repeat(2 ** 20) }), undefined],
  ["a StatefulSet of an old API", "StatefulSet", object({ observedGeneration: 2, updatedReplicas: 2, readyReplicas: 2 }, 2), undefined],
  ["a DaemonSet on every node", "DaemonSet", object(nodes), undefined],
  ["a DaemonSet on two of three", "DaemonSet", object({ ...nodes, numberAvailable: 2 }), "2 of 3 ready"],
  ["a DaemonSet where no node wants it", "DaemonSet", object({ observedGeneration: 2 }), undefined],
  ["a Job that is complete", "Job", object(is("Complete")), undefined],
  ["a Job that failed", "Job", object(is("Failed")), "it failed"],
  ["a Job that goes on", "Job", object({}), "it is not complete"],
];
for (const [what, kind, seen, why] of cases) test(`health of ${what}`, () => assert.equal(whyUnready(kind, seen), why));
