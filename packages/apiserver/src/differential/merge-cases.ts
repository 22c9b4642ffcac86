import { merges } from "./custom-kinds.ts";
import type { DifferentialCase, Step } from "./run-case.ts";

const { resource } = merges;
const apply = (manager: string, body: object, force = false): Step => ({
  do: "apply",
  manager,
  body,
  query: force ? { force: "true" } : {},
});
const applySpec = (manager: string, spec: unknown, force = false): Step => apply(manager, { spec }, force);

const full = {
  text: "x",
  integer: 1,
  boolean: true,
  port: "http",
  labels: { a: "1", b: "2" },
  selector: { app: "a" },
  object: { a: "1", c: { d: "x" } },
  atomic: { a: "1", b: "2" },
  list: ["a", "b"],
  set: ["a", "b"],
  numbers: [1, 2],
  items: [
    { name: "a", value: 1 },
    { name: "b", inner: { a: "x" } },
  ],
  ports: [{ port: 80 }, { port: 80, protocol: "UDP" }],
  objects: [{ name: "a" }],
  anything: { a: { b: [1, 2], c: {} }, e: null },
  nothing: null,
  nested: { a: { b: "c" } },
};

const sequences: readonly [name: string, steps: readonly Step[]][] = [
  ["apply creates, and applying again changes nothing", [applySpec("a", full), applySpec("a", full), { do: "get" }]],
  [
    "no longer applied fields go",
    [
      applySpec("a", full),
      applySpec("a", { text: "x", items: [{ name: "b" }], set: ["b"], labels: { b: "2" } }),
      applySpec("a", {}),
      apply("a", {}),
    ],
  ],
  [
    "two appliers share what they agree on",
    [
      applySpec("a", { text: "x", labels: { a: "1" } }),
      applySpec("b", { text: "x", labels: { b: "2" } }),
      applySpec("a", {}),
      applySpec("b", {}),
    ],
  ],
  [
    "a conflict names every field",
    [
      applySpec("a", full),
      applySpec("b", {
        text: "y",
        labels: { a: "2" },
        list: ["z"],
        atomic: { a: "9" },
        items: [{ name: "a", value: 2 }],
        ports: [{ port: 80, name: "n" }],
      }),
    ],
  ],
  [
    "force takes fields over",
    [
      applySpec("a", full),
      applySpec("b", { text: "y", labels: { a: "2" }, list: ["z"], items: [{ name: "a", value: 2 }] }, true),
      applySpec("a", full),
      applySpec("a", { text: "y" }),
    ],
  ],
  [
    "a conflict with an updater",
    [
      applySpec("a", { text: "x", integer: 1 }),
      { do: "merge", manager: "u", body: { spec: { text: "u", labels: { k: "v" } } } },
      applySpec("a", { text: "x", integer: 1 }),
      applySpec("a", { text: "x", integer: 1 }, true),
    ],
  ],
  [
    "conflicts with several managers",
    [
      applySpec("a", { text: "x" }),
      applySpec("b", { integer: 1 }),
      { do: "merge", manager: "u", body: { spec: { boolean: true } } },
      applySpec("c", { text: "y", integer: 2, boolean: false }),
    ],
  ],
  [
    "an item that another manager shares stays",
    [
      applySpec("a", {
        items: [
          { name: "a", value: 1 },
          { name: "b", value: 2 },
        ],
      }),
      applySpec("b", { items: [{ name: "a", note: "n" }] }),
      applySpec("a", { items: [{ name: "b", value: 2 }] }),
    ],
  ],
  [
    "order of list items follows the applier",
    [
      applySpec("a", { items: [{ name: "a" }, { name: "b" }, { name: "c" }] }),
      applySpec("b", { items: [{ name: "c" }, { name: "x" }, { name: "a" }] }),
      applySpec("a", { items: [{ name: "d" }, { name: "b" }, { name: "a" }, { name: "c" }] }),
    ],
  ],
  [
    "order of set items",
    [
      applySpec("a", { set: ["a", "b", "c"] }),
      applySpec("b", { set: ["c", "x", "a"] }),
      applySpec("c", { set: ["y", "b"] }),
      applySpec("a", { set: ["c", "b", "a"] }),
    ],
  ],
  [
    "empty containers",
    [
      applySpec("a", { labels: {}, object: {}, list: [], set: [], items: [], anything: {}, atomic: {}, selector: {} }),
      applySpec("a", { labels: { a: "1" }, items: [{ name: "a" }], set: ["a"] }),
      applySpec("a", { labels: {}, items: [], set: [] }),
    ],
  ],
  [
    "emptied containers that others hold",
    [applySpec("a", { labels: { a: "1" }, object: { a: "1" } }), applySpec("b", { labels: {}, object: {} }), applySpec("a", {})],
  ],
  [
    "atomic values are replaced whole",
    [
      applySpec("a", { atomic: { a: "1", b: "2" }, list: ["a"], selector: { a: "1" } }),
      applySpec("a", { atomic: { a: "2" }, list: ["b"], selector: { b: "1" } }),
    ],
  ],
  [
    "open maps merge by key",
    [
      applySpec("a", { anything: { a: { x: 1, y: [1] }, b: 2 } }),
      applySpec("b", { anything: { a: { z: 3 }, c: 4 } }),
      applySpec("a", { anything: { a: { x: 1 } } }),
    ],
  ],
  [
    "nested maps",
    [
      applySpec("a", { nested: { a: { b: "1", c: "2" }, d: {} } }),
      applySpec("b", { nested: { a: { e: "3" } } }),
      applySpec("a", { nested: { a: { b: "1" } } }),
    ],
  ],
  ["nulls", [applySpec("a", { nothing: null }), applySpec("a", { text: null }), applySpec("a", { object: { b: null } })]],
  [
    "defaulted keys",
    [
      applySpec("a", { ports: [{ port: 80 }] }),
      applySpec("b", { ports: [{ port: 80, protocol: "TCP", name: "n" }] }),
      applySpec("a", { ports: [] }),
    ],
  ],
  [
    "metadata",
    [
      apply("a", { metadata: { labels: { a: "1" }, annotations: { b: "2" }, finalizers: ["example.com/x"] } }),
      apply("b", { metadata: { labels: { c: "1" }, finalizers: ["example.com/y"] } }),
      apply("a", { metadata: { labels: { d: "1" } } }),
      { do: "merge", body: { metadata: { finalizers: null } } },
    ],
  ],
  [
    "status is a world of its own",
    [
      apply("a", { spec: { text: "x" }, status: { phase: "ignored" } }),
      {
        do: "apply",
        subresource: "status",
        manager: "s",
        body: {
          spec: { text: "ignored" },
          metadata: { labels: { ignored: "1" } },
          status: { phase: "p", conditions: [{ type: "Ready", status: "True" }] },
        },
      },
      {
        do: "apply",
        subresource: "status",
        manager: "s",
        body: { status: { conditions: [{ type: "Ready", status: "False" }, { type: "Other" }] } },
      },
      { do: "merge", subresource: "status", manager: "u", body: { metadata: { labels: { ignored: "1" } }, status: { phase: "q" } } },
      { do: "apply", subresource: "status", manager: "s", body: { status: { phase: "r" } } },
      { do: "merge", manager: "u", body: { status: { phase: "ignored" }, spec: { integer: 3 } } },
      { do: "replace", subresource: "status", manager: "r", body: { spec: { text: "ignored" }, status: { phase: "replaced" } } },
    ],
  ],
  [
    "undeclared fields are refused whatever",
    [
      applySpec("a", { nope: 1 }),
      { ...applySpec("a", { text: "x", items: [{ name: "a", nope: 1 }] }), query: { fieldValidation: "Ignore" } },
      apply("a", { nope: 1 }),
      apply("a", { metadata: { nope: 1 } }),
    ],
  ],
  [
    "wrong types",
    [
      applySpec("a", { text: 1, boolean: "x", integer: "y" }),
      applySpec("a", { labels: ["a"] }),
      applySpec("a", { items: "a" }),
      applySpec("a", { items: [{ value: 1 }] }),
      applySpec("a", { set: ["a", "a"] }),
      applySpec("a", { items: [{ name: "a" }, { name: "a" }] }),
      applySpec("a", { set: [null] }),
      applySpec("a", "x"),
    ],
  ],
  ["two keys, one absent", [applySpec("a", { ports: [{ protocol: "TCP" }] }), applySpec("a", { ports: [{ name: "x" }] })]],
  [
    "an apply after creates and updates",
    [
      { do: "create", manager: "c", body: { spec: { text: "x", items: [{ name: "a" }], labels: { a: "1" } } } },
      applySpec("a", { text: "x", items: [{ name: "a", value: 1 }] }),
      applySpec("a", { items: [{ name: "b" }] }),
      { do: "replace", manager: "r", body: { spec: { text: "y" } } },
    ],
  ],
  [
    "ownership of created fields",
    [
      {
        do: "create",
        manager: "c",
        body: { metadata: { labels: { a: "1" }, annotations: { b: "2" }, finalizers: ["example.com/x"] }, spec: full },
      },
      { do: "merge", body: { metadata: { finalizers: [] } } },
    ],
  ],
  [
    "ownership of a replaced object",
    [
      { do: "create", manager: "c", body: { spec: full } },
      {
        do: "replace",
        manager: "r",
        body: { spec: { text: "x", labels: { a: "9" }, items: [{ name: "b", value: 3 }], anything: { a: { b: [1] } } } },
      },
    ],
  ],
  [
    "an update that changes nothing",
    [
      { do: "create", manager: "c", body: { spec: { text: "x" } } },
      { do: "merge", manager: "u", body: { spec: { text: "x" } } },
      { do: "replace", manager: "r", body: { spec: { text: "x" } } },
    ],
  ],
  [
    "ownership can be reset",
    [
      applySpec("a", { text: "x" }),
      { do: "merge", manager: "u", body: { metadata: { managedFields: [{}] } } },
      applySpec("b", { text: "y" }),
      applySpec("a", { text: "x" }),
    ],
  ],
  [
    "ownership survives a client that drops it",
    [
      applySpec("a", { text: "x" }),
      {
        do: "json",
        manager: "u",
        body: [
          { op: "remove", path: "/metadata/managedFields" },
          { op: "replace", path: "/spec/text", value: "z" },
        ],
      },
    ],
  ],
  ["managedFields in an apply", [apply("a", { metadata: { managedFields: [{ manager: "x" }] }, spec: {} })]],
  [
    "json patches",
    [
      { do: "create", body: { spec: { list: ["a", "b"], labels: { a: "1" } } } },
      {
        do: "json",
        body: [
          { op: "add", path: "/spec/list/1", value: "x" },
          { op: "add", path: "/spec/list/-", value: "y" },
          { op: "remove", path: "/spec/list/0" },
          { op: "add", path: "/spec/labels/a~1b", value: "z" },
          { op: "move", from: "/spec/labels/a", path: "/spec/labels/c" },
          { op: "copy", from: "/spec/labels/c", path: "/spec/text" },
          { op: "test", path: "/spec/text", value: "1" },
        ],
      },
      { do: "json", body: [{ op: "test", path: "/spec/text", value: "2" }] },
      { do: "json", body: [{ op: "remove", path: "/spec/labels/none" }] },
      { do: "json", body: [{ op: "replace", path: "/spec/labels/new", value: "n" }] },
      { do: "json", body: [{ op: "nope", path: "/spec" }] },
      { do: "json", body: {} },
    ],
  ],
  [
    "merge patches",
    [
      { do: "create", body: { spec: { list: ["a"], labels: { a: "1", b: "2" }, object: { a: "1" } } } },
      { do: "merge", body: { spec: { labels: { a: null, c: "3" }, list: ["z"], object: { c: { d: "1" } } } } },
      { do: "merge", body: { spec: { unknown: 1 } } },
      { do: "merge", body: [] },
      { do: "strategic", body: { spec: {} } },
    ],
  ],
  [
    "a table row",
    [
      applySpec("a", { text: "x", integer: 3, boolean: true, items: [{ name: "a" }, { name: "b" }], list: ["p", "q"], object: { a: "1" } }),
      apply("l", { metadata: { labels: { "app.example.com/name": "lab" } } }),
      {
        do: "apply",
        subresource: "status",
        manager: "s",
        body: {
          status: {
            conditions: [
              { type: "Other", status: "x" },
              { type: "Ready", status: "True" },
            ],
          },
        },
      },
      { do: "table" },
    ],
  ],
  ["a table row with nothing in it", [apply("a", {}), { do: "table" }]],
];

/** Sequences of applies, updates and patches. */
export const mergeCases: readonly DifferentialCase[] = sequences.map(([name, steps]) => ({ name, resource, steps }));
