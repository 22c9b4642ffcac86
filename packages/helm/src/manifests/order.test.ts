import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder, stagesOf } from "./order.ts";

const kinds = (...list: readonly string[]) => list.map((kind, index) => ({ kind, index }));

test("what others need is made first, webhooks last, and of one kind as it was given", () => {
  const given = kinds("ValidatingWebhookConfiguration", "Widget", "Deployment", "Service", "ConfigMap", "Namespace", "ConfigMap");
  assert.deepEqual(
    inOrder(given).map(({ kind, index }) => `${kind} ${index}`),
    ["Namespace 5", "ConfigMap 4", "ConfigMap 6", "Service 3", "Deployment 2", "Widget 1", "ValidatingWebhookConfiguration 0"],
  );
});

test("Namespaces, then CRDs, then everything else", () => {
  const { namespaces, definitions, rest } = stagesOf(kinds("Widget", "CustomResourceDefinition", "Namespace", "Secret"));
  assert.deepEqual(
    [namespaces, definitions, rest].map((stage) => stage.map(({ kind }) => kind)),
    [["Namespace"], ["CustomResourceDefinition"], ["Secret", "Widget"]],
  );
});
