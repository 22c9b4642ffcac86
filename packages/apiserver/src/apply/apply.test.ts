import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { merges } from "../differential/custom-kinds.ts";
import { cloneJson, isObject, type JsonObject } from "../json.ts";
import { compileCrd } from "../schema/index.ts";
import { emptySet, intersectSets, isEmptySet, parseFields, printFields, setOfPaths, subtractSets, unionSets } from "./field-set.ts";
import { serverSideApply, trackUpdate, type ApplyOutcome } from "./index.ts";

const outcome = compileCrd(merges.crd);
assert.ok(outcome.ok);
const kind = outcome.crd.versions.get("v1") ?? assert.fail();
const context = { kind, subresource: "", apiVersion: kind.apiVersion };
const early = new Date("2026-01-01T00:00:00Z");
const late = new Date("2026-01-02T00:00:00Z");

const apply = (live: JsonObject | undefined, manager: string, spec: unknown, options: { force?: boolean; now?: Date } = {}): ApplyOutcome =>
  serverSideApply({
    ...context,
    live,
    manager,
    force: options.force ?? false,
    now: options.now ?? early,
    applied: { apiVersion: kind.apiVersion, kind: "MergeKind", metadata: { name: "a" }, spec },
  });
const applied = (result: ApplyOutcome): JsonObject => (result.kind === "applied" ? result.object : assert.fail(JSON.stringify(result)));

const plainJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
// Nobody owns an empty list, so one that replaces a list is taken for absent the first time and added the second, as on the genuine server.
const withoutEmpties = <T extends object>(value: T): T =>
  Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]: [string, unknown]) => [key, isObject(inner) ? withoutEmpties(inner) : inner] as const)
      .filter(([, inner]) => typeof inner !== "object" || inner === null || Object.keys(inner).length > 0),
  ) as T;
const text = fc.constantFrom("1", "2");
const name = fc.constantFrom("a", "b", "c");
const item = fc.record(
  { name, value: fc.nat(2), inner: fc.record({ a: text, b: text }, { requiredKeys: [] }) },
  { requiredKeys: ["name"] },
);
const anySpec = fc
  .record(
    {
      text,
      integer: fc.nat(2),
      labels: fc.dictionary(name, text),
      selector: fc.dictionary(name, text),
      object: fc.record({ a: text, c: fc.record({ d: text }, { requiredKeys: [] }) }, { requiredKeys: [] }),
      list: fc.array(text, { maxLength: 3 }),
      set: fc.uniqueArray(name),
      items: fc.uniqueArray(item, { selector: (one) => one.name }),
      anything: fc.dictionary(name, fc.oneof(text, fc.dictionary(name, text))),
    },
    { requiredKeys: [] },
  )
  .map((spec) => ({ ...withoutEmpties(plainJson(spec)), boolean: true }));
// Taking the last entry out of a map leaves null, which validation then refuses, here as on the genuine server: such an apply does not happen.
const accepted = (live: JsonObject | undefined, manager: string, spec: unknown): JsonObject | undefined => {
  const next = applied(apply(live, manager, spec, { force: true }));
  return JSON.stringify(next["spec"] ?? {}).includes("null") ? live : next;
};
const anyApply = fc.record({ manager: fc.constantFrom("x", "y", "z"), spec: anySpec });

describe("server-side apply", () => {
  it("applied twice gives the same bytes and writes no new time", () => {
    fc.assert(
      fc.property(fc.array(anyApply, { maxLength: 4 }), anyApply, (history, last) => {
        let live: JsonObject | undefined;
        for (const { manager, spec } of history) live = accepted(live, manager, spec);
        const once = accepted(live, last.manager, last.spec);
        fc.pre(once !== live);
        assert.deepEqual(applied(apply(once, last.manager, last.spec, { now: late })), once);
      }),
    );
  });

  it("what was applied last is there, whatever was before", () => {
    fc.assert(
      fc.property(fc.array(anyApply, { maxLength: 4 }), anyApply, (history, { manager, spec }) => {
        let live: JsonObject | undefined;
        for (const one of history) live = accepted(live, one.manager, one.spec);
        const result = applied(apply(live, manager, spec, { force: true }))["spec"] as JsonObject;
        if (spec.text !== undefined) assert.equal(result["text"], spec.text);
        for (const [key, value] of Object.entries(spec.labels ?? {})) assert.equal((result["labels"] as JsonObject)[key], value);
        if (spec.list !== undefined) assert.deepEqual(result["list"], spec.list);
        for (const one of spec.items ?? []) {
          const found = (result["items"] as JsonObject[]).find((candidate) => candidate["name"] === one.name);
          assert.ok(found !== undefined, one.name);
          if (one.value !== undefined) assert.equal(found["value"], one.value);
        }
      }),
    );
  });

  it("changes neither the stored object nor the configuration", () => {
    fc.assert(
      fc.property(anySpec, anySpec, (first, second) => {
        const live = applied(apply(undefined, "x", first));
        const [liveBefore, secondBefore] = [cloneJson(live), cloneJson(second)];
        apply(live, "y", second, { force: true });
        assert.deepEqual([live, second], [liveBefore, secondBefore]);
      }),
    );
  });

  it("leaves no value behind when everybody lets go", () => {
    fc.assert(
      fc.property(fc.array(anyApply, { minLength: 1, maxLength: 4 }), (history) => {
        let live: JsonObject | undefined;
        for (const { manager, spec } of history) live = accepted(live, manager, spec);
        for (const manager of ["x", "y", "z"]) live = applied(apply(live, manager, {}, { force: true }));
        assert.equal(/:(?!null|\{)/u.test(JSON.stringify(live?.["spec"] ?? {})), false, JSON.stringify(live?.["spec"]));
      }),
    );
  });

  it("agrees with a slow obvious model on a map of texts", () => {
    const step = fc.record({ manager: fc.constantFrom("x", "y", "z"), force: fc.boolean(), labels: fc.dictionary(name, text) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const values = new Map<string, string>();
        const owners = new Map<string, Set<string>>();
        const owned = (manager: string): Set<string> => owners.get(manager) ?? new Set();
        let live: JsonObject | undefined;
        for (const { manager, force, labels: some } of steps) {
          const labels: Record<string, string> = { ...some, keep: "1" };
          const others = [...owners].filter(([other]) => other !== manager);
          const fought = Object.entries(labels).filter(([key, value]) => values.has(key) && values.get(key) !== value);
          const conflicts = fought.flatMap(([key]) => others.filter(([, keys]) => keys.has(key)).map(([other]) => `${other} ${key}`));
          const result = apply(live, manager, { labels }, { force });
          if (!force && conflicts.length > 0) {
            assert.equal(result.kind, "conflicts");
            const told =
              result.kind === "conflicts" ? result.conflicts.map((one) => `${one.manager} ${one.field.replace(".spec.labels.", "")}`) : [];
            assert.deepEqual(told.toSorted(), conflicts.toSorted());
            continue;
          }
          live = applied(result);
          for (const key of owned(manager)) if (!(key in labels) && !others.some(([, keys]) => keys.has(key))) values.delete(key);
          for (const [key] of fought) for (const [, keys] of others) keys.delete(key);
          for (const [key, value] of Object.entries(labels)) values.set(key, value);
          owners.set(manager, new Set(Object.keys(labels)));
          const now = ((live["spec"] as JsonObject | undefined)?.["labels"] ?? {}) as JsonObject;
          assert.deepEqual(now, Object.fromEntries(values));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("field ownership of updates", () => {
  it("gives changed fields to the updater and takes them from the applier", () => {
    const live = applied(apply(undefined, "x", { text: "1", integer: 1 }));
    const updated = trackUpdate({ ...context, manager: "u", now: late, live, updated: { ...live, spec: { text: "2", integer: 1 } } });
    const entries = (updated["metadata"] as { managedFields: JsonObject[] }).managedFields;
    assert.deepEqual(
      entries.map((entry) => [entry["manager"], entry["operation"], entry["time"], entry["fieldsV1"]]),
      [
        ["x", "Apply", "2026-01-01T00:00:00Z", { "f:spec": { "f:integer": {} } }],
        ["u", "Update", "2026-01-02T00:00:00Z", { "f:spec": { "f:text": {} } }],
      ],
    );
  });

  it("leaves every entry alone when nothing changed", () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const live = applied(apply(undefined, "x", spec));
        assert.deepEqual(trackUpdate({ ...context, manager: "u", now: late, live, updated: cloneJson(live) }), live);
      }),
    );
  });

  it("joins the oldest updaters once there are more than ten", () => {
    let live: JsonObject = { apiVersion: kind.apiVersion, kind: "MergeKind", metadata: { name: "a" } };
    let stored: JsonObject | undefined;
    for (let i = 0; i < 14; i++) {
      const labels = { ...((live["spec"] as JsonObject | undefined)?.["labels"] as JsonObject | undefined), [`k${i}`]: "1" };
      live = trackUpdate({
        ...context,
        manager: `m${i}`,
        now: new Date(early.getTime() + i * 1000),
        live: stored,
        updated: { ...live, spec: { labels } },
      });
      stored = live;
    }
    const managers = (live["metadata"] as { managedFields: JsonObject[] }).managedFields.map((entry) => entry["manager"]);
    assert.equal(managers.length, 10);
    assert.ok(managers.includes("ancient-changes"));
    assert.ok(managers.includes("m13"));
  });

  it("forgets entries that cannot be read", () => {
    const live = {
      apiVersion: kind.apiVersion,
      kind: "MergeKind",
      metadata: { name: "a", managedFields: [{ manager: "x", operation: "Nonsense" }] },
      spec: {},
    };
    const result = trackUpdate({ ...context, manager: "u", now: late, live, updated: { ...live, spec: { text: "1" } } });
    assert.equal(Object.hasOwn(result["metadata"] as JsonObject, "managedFields"), false);
  });
});

describe("sets of fields", () => {
  const paths = fc.array(fc.array(fc.constantFrom("f:a", "f:b", 'k:{"n":"1"}', 'v:"x"', "i:0"), { minLength: 1, maxLength: 3 }), {
    maxLength: 6,
  });
  const anySet = paths.map((list) => setOfPaths(list));

  it("survive printing", () => {
    fc.assert(fc.property(anySet, (set) => assert.deepEqual(printFields(parseFields(printFields(set)) ?? emptySet), printFields(set))));
  });

  it("obey the laws of sets", () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        assert.deepEqual(printFields(unionSets(a, b)), printFields(unionSets(b, a)));
        assert.deepEqual(printFields(unionSets(subtractSets(a, b), intersectSets(a, b))), printFields(a));
        assert.equal(isEmptySet(intersectSets(subtractSets(a, b), b)), true);
      }),
    );
  });

  it("refuse what is no FieldsV1", () => {
    for (const bad of [null, 1, [], { a: {} }, { "f:a": 1 }]) assert.equal(parseFields(bad), undefined);
  });
});
