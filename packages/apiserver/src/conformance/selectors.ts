import assert from "node:assert/strict";
import { namesOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

/** Objects `a`, `b`, `c`; only `a` and `b` have `tier`, `c` has an empty `note`. */
async function createThree(w: World): Promise<void> {
  const labels: Readonly<Record<string, Record<string, string>>> = {
    a: { mine: "1", tier: "front", weight: "5", "example.com/zone": "x" },
    b: { mine: "1", tier: "back", weight: "12" },
    c: { mine: "1", note: "", weight: "many" },
  };
  for (const [name, own] of Object.entries(labels)) await w.create(w.core("configmaps"), w.configMap(name, { k: "v" }, { labels: own }));
}

/** Label selectors and the objects of the three that they choose. */
const chosen: Readonly<Record<string, readonly string[]>> = {
  "tier=front": ["a"],
  "tier==front": ["a"],
  "tier = front": ["a"],
  "tier!=front": ["b", "c"],
  "tier in (front,back)": ["a", "b"],
  "tier in (front)": ["a"],
  "tier in ( front , back )": ["a", "b"],
  "tier notin (front)": ["b", "c"],
  tier: ["a", "b"],
  "!tier": ["c"],
  "! tier": ["c"],
  "note=": ["c"],
  "note!=": ["a", "b"],
  "note in ()": ["c"],
  "note in (,x)": ["c"],
  note: ["c"],
  "weight>5": ["b"],
  "weight<12": ["a"],
  "example.com/zone=x": ["a"],
  "example.com/zone": ["a"],
  "tier=front,tier=back": [],
  "tier,!note": ["a", "b"],
  toString: [],
};

/** Label selectors that nobody understands, with what the refusal says. */
const refusedLabels: Readonly<Record<string, RegExp>> = {
  "a b": /^unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt$/,
  "a=b=c": /^found '=', expected: ',' or 'end of string'$/,
  "a,,b": /^found ',', expected: identifier after ','$/,
  "a,": /^found '', expected: identifier after ','$/,
  ",": /^found ',', expected: !, identifier, or 'end of string'$/,
  "=a": /^found '=', expected: !, identifier, or 'end of string'$/,
  "a in b": /^unable to parse requirement: found 'b' expected: '\('$/,
  "a in (b": /^unable to parse requirement: found '', expected: ',' or '\)'$/,
  "!a=b": /^found '=', expected: ',' or 'end of string'$/,
  "a>b": /^unable to parse requirement: values\[0\]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer$/,
  "-a=b": /^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of/,
  "a/b/c": /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a valid label key must consist of/,
  "a=$": /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "\$": a valid label must be an empty string or consist of/,
};

const refusedFields: Readonly<Record<string, string>> = {
  "metadata.name": "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
  "metadata.name=a=b": "invalid field selector: unescaped character in value: 61",
  "metadata.name=a\\": "invalid field selector: invalid escape sequence: \\",
  "metadata.name=a\\x": "invalid field selector: invalid escape sequence: \\x",
};

const chosenByField: Readonly<Record<string, readonly string[]>> = {
  "metadata.name=a": ["a"],
  "metadata.name==a": ["a"],
  "metadata.name!=a": ["b", "c"],
  "metadata.name=a,metadata.name!=b": ["a"],
  "metadata.name=a\\,b": [],
  "metadata.name=a\\=b": [],
  "metadata.name=": [],
  "metadata.name=toString": [],
  "metadata.namespace=elsewhere": [],
};

/** Label and field selectors, what they choose and how bad ones are refused. */
export const selectorCases: readonly ConformanceCase[] = [
  ...Object.entries(chosen).map(([labelSelector, names]) => ({
    name: `the label selector ${JSON.stringify(labelSelector)} chooses ${names.length === 0 ? "nothing" : names.join(", ")}`,
    run: async (w: World) => {
      await createThree(w);
      assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps"), { labelSelector: `mine=1,${labelSelector}` }))), names);
    },
  })),
  ...Object.entries(refusedLabels).map(([labelSelector, message]) => ({
    name: `the label selector ${JSON.stringify(labelSelector)} is refused`,
    run: async (w: World) => {
      await w.refused(w.get(w.core("configmaps"), { labelSelector }), { status: 400, reason: "BadRequest", message });
    },
  })),
  ...Object.entries(chosenByField).map(([fieldSelector, names]) => ({
    name: `the field selector ${JSON.stringify(fieldSelector)} chooses ${names.length === 0 ? "nothing" : names.join(", ")}`,
    run: async (w: World) => {
      await createThree(w);
      assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps"), { fieldSelector, labelSelector: "mine=1" }))), names);
    },
  })),
  ...Object.entries(refusedFields).map(([fieldSelector, message]) => ({
    name: `the field selector ${JSON.stringify(fieldSelector)} is refused`,
    run: async (w: World) => {
      await w.refused(w.get(w.core("configmaps"), { fieldSelector }), { status: 400, reason: "BadRequest", message });
    },
  })),
  {
    name: "a field of a custom kind that is not selectable is refused",
    run: async (w) => {
      await w.refused(w.get(w.widgets(), { fieldSelector: "spec.size=1" }), {
        status: 400,
        reason: "BadRequest",
        message: "field label not supported: spec.size",
      });
    },
  },
  {
    name: "label and field selectors both hold",
    run: async (w) => {
      await createThree(w);
      const query = { labelSelector: "tier=front", fieldSelector: "metadata.name=b" };
      assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps"), query))), []);
    },
  },
  {
    name: "a list over all namespaces is narrowed by metadata.namespace",
    run: async (w) => {
      await createThree(w);
      const query = { labelSelector: "mine=1", fieldSelector: `metadata.namespace=${w.namespace}` };
      assert.deepEqual(namesOf(await w.ok(w.get("/api/v1/configmaps", query))), ["a", "b", "c"]);
    },
  },
  {
    name: "a watch refuses a bad selector before it begins",
    run: async (w) => {
      const stream = await w.transport.watch({ method: "GET", path: w.widgets(), query: { watch: "true", labelSelector: "a b" } });
      assert.equal(stream.status, 400);
    },
  },
  {
    name: "a deletion of a collection refuses a bad selector and deletes nothing",
    run: async (w) => {
      await createThree(w);
      await w.refused(w.send("DELETE", w.core("configmaps"), undefined, { query: { labelSelector: "a b" } }), { status: 400 });
      assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps"), { labelSelector: "mine=1" }))), ["a", "b", "c"]);
    },
  },
];
