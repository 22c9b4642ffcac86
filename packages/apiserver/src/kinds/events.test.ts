import assert from "node:assert/strict";
import { test } from "node:test";
import { eventToCoreApi, eventToNewApi, validateEvent } from "./events.ts";

test("an Event of v1 has the same content under the names of events.k8s.io/v1, and back", () => {
  const stored = {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: { kind: "Pod", name: "a" },
    message: "said",
    reportingComponent: "kubelet",
    source: { component: "kubelet" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:01Z",
    count: 7,
  };
  const served = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    regarding: { kind: "Pod", name: "a" },
    note: "said",
    reportingController: "kubelet",
    deprecatedSource: { component: "kubelet" },
    deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
    deprecatedLastTimestamp: "2026-01-01T00:00:01Z",
    deprecatedCount: 7,
  };
  assert.deepEqual(eventToNewApi(stored), served);
  assert.deepEqual(eventToCoreApi(served), stored);
});

for (const [namespace, about, isFit] of [
  ["team", "team", true],
  ["default", "team", false],
  ["kube-system", "team", false],
  ["team", "other", false],
  ["default", undefined, true],
  ["team", undefined, false],
] as const)
  test(`an Event in ${namespace} about an object ${about === undefined ? "of no namespace" : `in ${about}`} is ${isFit ? "taken" : "refused"}`, () => {
    const event = { metadata: { namespace }, involvedObject: about === undefined ? {} : { namespace: about } };
    assert.equal(validateEvent(event, undefined).length, isFit ? 0 : 1);
  });
