import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { unreadAnnotations } from "./unread-annotations.ts";

const read = annotations.reconcileMode;
const adopt = "talos-operator.dev/adopt";
for (const [key, want] of [
  ["talos-operator.dev/reconcile-mode", `Annotation talos-operator.dev/reconcile-mode is not read: write ${read}.`],
  ["reconcile-mode", `Annotation reconcile-mode is not read: write ${read}.`],
  ["talos.alperen.cloud/adopt", `Annotation talos.alperen.cloud/adopt is not read: write ${adopt}.`],
  // What the operator itself writes is nothing to write.
  ["talos.alperen.cloud/machines-wiped", undefined],
  ["example.org/reconcile-mode", undefined],
  ["talos-operator.dev/no-such-word", undefined],
  ...Object.values(annotations).flatMap((own) => (own === annotations.endpointReachableFrom ? [] : ([[own, undefined]] as const))),
] as const)
  test(`annotation ${key}: ${want === undefined ? "nothing is said" : "what to write is said"}`, () =>
    assert.deepEqual(unreadAnnotations({ annotations: { [key]: "disable" } }), want === undefined ? [] : [want]));

for (const [value, want] of [
  ["outside", []],
  ["Outside", []],
  ["inside", [`Annotation ${annotations.endpointReachableFrom} says "inside", which is no known value: write outside, or remove it.`]],
] as const)
  test(`where the endpoint is reached from says ${value}`, () =>
    assert.deepEqual(unreadAnnotations({ annotations: { [annotations.endpointReachableFrom]: value } }), want));
