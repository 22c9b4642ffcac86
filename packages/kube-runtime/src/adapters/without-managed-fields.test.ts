import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { withoutManagedFields } from "./without-managed-fields.ts";

const parsed = (text: string): unknown => JSON.parse(withoutManagedFields(Buffer.from(text)));
const entry = { manager: "kubectl", fieldsV1: { "f:spec": { 'k:{"name":"a]}"}': { ".": {} } } } };

/** The slow obvious way: parse it, then remove the field. */
function obvious(text: string): unknown {
  const event = JSON.parse(text) as { object?: { metadata?: { managedFields?: unknown } } | null } | null;
  const metadata = event?.object?.metadata;
  if (typeof metadata === "object" && metadata !== null && Array.isArray(metadata.managedFields)) delete metadata.managedFields;
  return event;
}

describe("a watch event without managed fields", () => {
  for (const [name, object] of [
    ["in the middle of the metadata", { metadata: { name: "a", managedFields: [entry, entry], uid: "u" }, spec: {} }],
    ["at its end", { metadata: { name: "größer €", managedFields: [entry] } }],
    ["alone in it", { metadata: { managedFields: [entry] } }],
    ["as an empty list", { metadata: { managedFields: [] }, spec: { a: 1 } }],
    ["behind a field of the name that is not its own", { a: { managedFields: [1] }, metadata: { managedFields: [entry] } }],
    ["behind a text that looks like it", { metadata: { annotations: { a: '{"managedFields":[1],"b":"\\"' }, managedFields: [entry] } }],
  ] as const) {
    it(`leaves them out ${name}`, () => {
      const text = JSON.stringify({ type: "MODIFIED", object });
      assert.deepEqual(parsed(text), obvious(text));
      assert.doesNotMatch(withoutManagedFields(Buffer.from(text)), /fieldsV1/);
    });
  }

  for (const [name, event] of [
    ["of a template in the specification", { type: "ADDED", object: { spec: { metadata: { managedFields: [1] } } } }],
    ["of the specification", { type: "ADDED", object: { metadata: {}, spec: { managedFields: [1] } } }],
    ["deeper in the metadata", { type: "ADDED", object: { metadata: { a: { managedFields: [1] } } } }],
    ["of metadata that are a list", { type: "ADDED", object: { metadata: [{ managedFields: [1] }] } }],
    ["under a key that ends alike", { type: "ADDED", object: { 'a"metadata': { managedFields: [1] } } }],
    ["under an outer key that ends alike", { type: "ADDED", 'a"object': { metadata: { managedFields: [1] } } }],
    ["of something beside the object", { type: "ADDED", other: { metadata: { managedFields: [1] } } }],
    ["whose name only ends alike", { type: "ADDED", object: { metadata: { 'a"managedFields': [1] } } }],
    ["that are no list", { type: "ADDED", object: { metadata: { managedFields: { a: 1 } } } }],
  ] as const) {
    it(`keeps a field of the same name ${name}`, () => {
      assert.equal(withoutManagedFields(Buffer.from(JSON.stringify(event))), JSON.stringify(event));
    });
  }

  it("keeps them where they stand between spaces or beside what is not JSON, so that the whole is read as it is", () => {
    for (const metadata of [
      '{"managedFields":[1] ,"uid":"u"}',
      '{"uid":"u", "managedFields":[1]}',
      '{"managedFields":[1],}',
      '{"managedFields":[1]"uid":"u"}',
    ]) {
      const text = `{"type":"MODIFIED","object":{"metadata":${metadata}}}`;
      assert.equal(withoutManagedFields(Buffer.from(text)), text);
    }
  });

  it("does the same as parsing and removing, whatever the event holds", () => {
    const word = fc.oneof(
      fc.constantFrom("managedFields", "metadata", "object", 'a"object', "]", "\\", ',"managedFields":[', '\\"managedFields":[1]'),
      fc.string({ unit: "binary" }),
    );
    // V8 takes a key with an escape for one that begins with a backslash and stood in its place in an object before: `"\\u0000"` for `"\\\\"`.
    const key = word.filter((text) => !text.includes("\\") || text.startsWith('\\"managed'));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.integer(),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    }));
    const metadata = fc
      .tuple(
        fc.dictionary(key, value, { maxKeys: 3 }),
        fc.option(fc.array(value, { maxLength: 3 })),
        fc.dictionary(key, value, { maxKeys: 3 }),
      )
      .map(([before, managedFields, after]) => ({ ...before, ...(managedFields === null ? {} : { managedFields }), ...after }));
    const event = fc
      .tuple(fc.dictionary(key, value, { maxKeys: 2 }), metadata, fc.dictionary(key, value, { maxKeys: 2 }), word)
      .map(([before, held, after, type]) => ({ type, object: { ...before, metadata: held, ...after } }));
    fc.assert(
      fc.property(event, (held) => {
        const text = JSON.stringify(held);
        assert.deepEqual(obvious(withoutManagedFields(Buffer.from(text))), obvious(text));
      }),
      { numRuns: 400 },
    );
  });

  it("never reads past the end of what is not JSON", () => {
    const whole = Buffer.from(JSON.stringify({ type: "ADDED", object: { metadata: { name: "a", managedFields: [entry], uid: "u" } } }));
    for (let length = 0; length < whole.length; length += 1) {
      const cut = whole.subarray(0, length);
      assert.throws(() => JSON.parse(withoutManagedFields(cut)) as unknown, SyntaxError, cut.toString());
    }
  });
});
