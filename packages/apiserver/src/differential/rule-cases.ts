import { rules } from "./custom-kinds.ts";
import type { DifferentialCase } from "./run-case.ts";

const samples: readonly [name: string, spec: unknown][] = [
  ["defaults pass", {}],
  ["a rule over two fields", { mode: "big", count: 9 }],
  ["a rule over two fields, satisfied", { mode: "big", count: 10 }],
  ["a message expression with a field path", { low: 5, high: 3 }],
  ["a rule without message, with a reason", { count: 13 }],
  ["a rule on an integer", { odd: 4 }],
  ["a rule on a number", { ratio: 1.5 }],
  ["a rule on a whole number", { ratio: 2 }],
  ["a rule on a boolean", { flag: false }],
  ["an address", { address: "10.0.0.1" }],
  ["no address", { address: "10.0.0.256" }],
  ["a block", { block: "192.168.0.0/16" }],
  ["a block too wide", { block: "10.0.0.0/7" }],
  ["a block that contains", { block: "10.0.0.0/8" }],
  ["no block", { block: "x" }],
  ["a url", { url: "https://a.example.com:6443/x?y=z" }],
  ["a url without port", { url: "https://a.example.com" }],
  ["no url", { url: "a b" }],
  ["a quantity", { memory: "2Gi" }],
  ["a small quantity", { memory: "1G" }],
  ["no quantity", { memory: "much" }],
  ["a time", { when: "2026-01-01T00:00:00Z" }],
  ["an early time", { when: "2019-01-01T00:00:00Z" }],
  ["a duration", { wait: "59m" }],
  ["a long duration", { wait: "61m" }],
  ["sorted words", { words: ["a", "b"] }],
  ["unsorted words", { words: ["b", "a"] }],
  ["bad words", { words: ["A"] }],
  ["words that are there twice", { unique: ["a", "b", "a"] }],
  [
    "a sum",
    {
      items: [
        { name: "a", value: 60 },
        { name: "b", value: 41 },
      ],
    },
  ],
  ["a small sum", { items: [{ name: "a", value: 60 }, { name: "b" }] }],
  ["map keys and values", { labels: { "x-a": "ok", y: "z" } }],
  ["escaped names", { escaped: true, "dash-ed": "d", namespace: "n" }],
  ["escaped names missing", { escaped: true, namespace: "n" }],
  ["an absent escaped name", { escaped: true, "dash-ed": "d" }],
  ["optionals", { maybe: { a: "1", b: "1" } }],
  ["optionals absent", { maybe: {} }],
  ["an untyped number", { untyped: 1 }],
  ["an untyped text", { untyped: "50%" }],
  ["an untyped bad number", { untyped: 0 }],
  ["an untyped bad text", { untyped: "50" }],
  ["rules wait for sound types", { mode: 1, odd: 2 }],
  ["rules run beside a bad pattern", { address: "x", odd: 2 }],
];

/** Creates that break one rule, and updates that meet transition rules. */
export const ruleCases: readonly DifferentialCase[] = [
  ...samples.map(([name, spec]) => ({ name, resource: rules.resource, steps: [{ do: "create" as const, body: { spec } }] })),
  {
    name: "transition rules",
    resource: rules.resource,
    steps: [
      { do: "create", body: { spec: { fixed: "a", grows: 3, items: [{ name: "a", value: 5 }] } } },
      { do: "merge", body: { spec: { fixed: "b" } } },
      { do: "merge", body: { spec: { fixed: null } } },
      { do: "merge", body: { spec: { grows: 2 } } },
      { do: "merge", body: { spec: { grows: 4 } } },
      {
        do: "merge",
        body: {
          spec: {
            items: [
              { name: "b", value: 1 },
              { name: "a", value: 4 },
            ],
          },
        },
      },
      {
        do: "merge",
        body: {
          spec: {
            items: [
              { name: "b", value: 1 },
              { name: "a", value: 6 },
            ],
          },
        },
      },
      { do: "apply", manager: "applier", query: { force: "true" }, body: { spec: { fixed: "c" } } },
    ],
  },
  {
    name: "rules on status through the status subresource",
    resource: rules.resource,
    steps: [
      { do: "create", body: { spec: {}, status: { count: 200 } } },
      { do: "merge", subresource: "status", body: { status: { count: 200 } } },
      { do: "merge", subresource: "status", body: { spec: { odd: 2 }, status: { count: 20 } } },
    ],
  },
];
