import type { JsonObject } from "../json.ts";
import { costs } from "./custom-kinds.ts";
import type { DifferentialCase } from "./run-case.ts";

const items = (count: number): JsonObject[] => Array.from({ length: count }, () => ({ words: Array.from({ length: 100 }, () => "a") }));
const words = (count: number): string[] => Array.from({ length: count }, () => "a");

/** What the evaluation of rules costs. */
export const costCases: readonly DifferentialCase[] = [
  {
    name: "an evaluation below the limit",
    resource: costs.resource,
    steps: [{ do: "create", statusOnly: true, body: { spec: { words: words(300) } } }],
  },
  { name: "an evaluation above the limit", resource: costs.resource, steps: [{ do: "create", body: { spec: { words: words(1000) } } }] },
  { name: "a message above the limit", resource: costs.resource, steps: [{ do: "create", body: { spec: { told: words(1000) } } }] },
  {
    name: "an object below the budget",
    resource: costs.resource,
    steps: [{ do: "create", statusOnly: true, body: { spec: { items: items(50) } } }],
  },
  { name: "an object above the budget", resource: costs.resource, steps: [{ do: "create", body: { spec: { items: items(100) } } }] },
  {
    name: "the limit inside what is forgiven",
    resource: costs.resource,
    steps: [{ do: "create", body: { spec: { eager: words(1000) } } }],
  },
];
