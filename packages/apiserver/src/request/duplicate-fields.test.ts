import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { duplicateFields } from "./duplicate-fields.ts";

describe("members that stand twice in a JSON text", () => {
  const cases: readonly (readonly [text: string, want: readonly string[]])[] = [
    ["{}", []],
    ['{"a":1,"b":2}', []],
    ['{"a":1,"a":2}', ["a"]],
    ['{"a":1,"a":2,"a":3}', ["a", "a"]],
    ['{"metadata":{"name":"a","name":"b"},"data":{"a":"1","b":"3","a":"2"}}', ["metadata.name", "data.a"]],
    ['{"spec":{"containers":[{"name":"x"},{"name":"c","name":"d"}]}}', ["spec.containers[1].name"]],
    ['{"a":[[{"b":1}],[{"b":1,"b":2}]]}', ["a[1][0].b"]],
    ['{"a":{"b":1},"c":{"b":1}}', []],
    ['{"a":"{\\"x\\":1,\\"x\\":2}","b":"\\\\"}', []],
    ['{"a":"\\\\\\"","a":1}', ["a"]],
    ['{"\\u0061":1,"a":2}', ["a"]],
    ['["a","a"]', []],
    ['{ "a" : [ "a" , "a" ] , "b" : { } }', []],
  ];
  for (const [text, want] of cases) it(`${text}: ${want.join(", ") || "none"}`, () => assert.deepEqual(duplicateFields(text), want));
});
