import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { boolean, described, intOrString, integer, list, object, oneOf, rawObject, required, string } from "./field.ts";
import type { Infer } from "./field.ts";

const pool = object(
  {
    size: required(integer({ description: "How many.", format: "int32", minimum: 1 })),
    role: oneOf(["worker", "controlplane"], { description: "What for.", default: "worker" }),
    share: intOrString({ description: "How much." }),
    tags: list(string({ description: "A tag.", maxLength: 10 }), { description: "Words.", listType: "set", maxItems: 3 }),
    extra: rawObject({ description: "Anything." }),
  },
  { description: "A pool.", rules: [{ rule: "self.size < 10", message: "too many" }] },
);

/** Compiles only when both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

interface Pool {
  readonly size: number;
  readonly role?: "worker" | "controlplane";
  readonly share?: number | string;
  readonly tags?: readonly string[];
  readonly extra?: Readonly<Record<string, unknown>>;
}

describe("a schema object", () => {
  it("gives its static type", () => {
    const isSame: Same<Infer<typeof pool>, Pool> = true;
    assert.equal(isSame, true);
    // @ts-expect-error size is required
    const missing: Infer<typeof pool> = { role: "worker" };
    // @ts-expect-error role is a closed set
    const wrong: Infer<typeof pool> = { size: 1, role: "storage" };
    assert.ok(missing && wrong);
  });

  it("gives the schema that the server takes", () => {
    assert.deepEqual(pool.schema, {
      type: "object",
      description: "A pool.",
      "x-kubernetes-validations": [{ rule: "self.size < 10", message: "too many" }],
      required: ["size"],
      properties: {
        size: { type: "integer", description: "How many.", format: "int32", minimum: 1 },
        role: { type: "string", description: "What for.", default: "worker", enum: ["worker", "controlplane"] },
        share: { description: "How much.", anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
        tags: {
          type: "array",
          description: "Words.",
          maxItems: 3,
          items: { type: "string", description: "A tag.", maxLength: 10 },
          "x-kubernetes-list-type": "set",
        },
        extra: { type: "object", description: "Anything.", "x-kubernetes-preserve-unknown-fields": true },
      },
    });
  });

  it("may be required or described anew without changing the original", () => {
    const flag = boolean({ description: "Yes or no." });
    assert.deepEqual(described(required(flag), "Other words."), {
      schema: { type: "boolean", description: "Other words." },
      isRequired: true,
    });
    assert.deepEqual(flag, { schema: { type: "boolean", description: "Yes or no." }, isRequired: false });
  });
});
