import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSeededRandom } from "../testing/index.ts";
import { createEventParser } from "./event-parser.ts";
import { createDamage, createJsonStory } from "./testing/json-story.ts";
import { withoutManagedFields } from "./without-managed-fields.ts";

type Json = Record<string, unknown>;
/** The objects of these tests, as far as they are looked at. */
interface Machine {
  readonly metadata: Json;
  readonly spec: Json;
  readonly status: { readonly conditions: readonly Json[] };
}

const uid = "00000000-0000-4000-8000-000000000001";
const lineOf = (object: string, type = "MODIFIED"): Buffer => Buffer.from(`{"type":"${type}","object":${object}}`);

/** An object that was brought three times: the third time it was laid beside what was remembered. */
function followed(parse: (line: Buffer) => { readonly object: unknown }, ...objects: readonly object[]): readonly Machine[] {
  return objects.map((object) => parse(lineOf(JSON.stringify(object))).object as Machine);
}

function machine(resourceVersion: string, more: Json = {}, message = "all is well") {
  return {
    apiVersion: "v1",
    metadata: {
      name: "a",
      labels: { a: "b" },
      managedFields: [{ manager: "kubectl", time: resourceVersion, fieldsV1: { "f:a": {} } }],
      resourceVersion,
      uid,
    },
    spec: { disks: [{ path: "/dev/sda" }], network: { name: "eth0" } },
    status: {
      conditions: [
        { type: "Ready", message },
        { type: "Reachable", message: "yes" },
      ],
    },
    ...more,
  };
}

/** An event with the order of its keys. */
function said({ type, object }: { readonly type: string; readonly object: unknown }): { readonly event: unknown; readonly text: string } {
  return { event: { type, object }, text: JSON.stringify(object) };
}

function outcomeOf(parse: () => { readonly type: string; readonly object: unknown }): unknown {
  try {
    return said(parse());
  } catch {
    return "an error";
  }
}

/** Plays stories, each with a parser of its own; returns how many objects shared a part with the one before. */
function play(seed: number, stories: number, lines: number): number {
  const random = createSeededRandom(seed);
  let shared = 0;
  for (let story = 0; story < stories; story += 1) {
    const leavesManagedFieldsOut = random.fraction() < 0.8;
    const parse = createEventParser({ leavesManagedFieldsOut });
    const isCalm = random.fraction() < 0.6;
    const { next } = createJsonStory(random, { isCalm });
    const damaged = createDamage(random);
    let before: Json = {};
    for (let count = 0; count < lines; count += 1) {
      const whole = lineOf(next(), !isCalm && random.fraction() < 0.02 ? "DELETED" : "MODIFIED");
      const line = random.fraction() < (isCalm ? 0.01 : 0.1) ? damaged(whole) : whole;
      let object: unknown;
      const got = outcomeOf(() => {
        const event = parse(Buffer.from(line));
        object = event.object;
        return event;
      });
      const about = `seed ${seed}, story ${story}, line ${count}: ${line.toString("latin1")}`;
      // Whole texts have always been parsed like this.
      const want = outcomeOf(() => {
        const event = JSON.parse(leavesManagedFieldsOut ? withoutManagedFields(line) : line.toString("utf8")) as Json;
        if (!["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"].includes(String(event["type"]))) throw new Error("not an event");
        if (!("object" in event)) throw new Error("not an event");
        return event as { type: string; object: unknown };
      });
      assert.deepEqual(got, want, about);
      if (typeof object !== "object" || object === null) continue;
      const parts = new Set(Object.values(before).filter((part) => typeof part === "object" && part !== null));
      if (Object.values(object).some((part) => parts.has(part))) shared += 1;
      before = object as Json;
    }
  }
  return shared;
}

describe("the events of a watch", () => {
  it("share with the event before what is the same, and nothing else", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    const [, second, third] = followed(parse, machine("1"), machine("2"), machine("3", {}, "it is not"));
    assert.ok(second && third);
    assert.equal(third.spec, second.spec);
    assert.equal(third.status.conditions[1], second.status.conditions[1]);
    assert.deepEqual(third.status.conditions[0], { type: "Ready", message: "it is not" });
    const { managedFields: _, ...metadata } = machine("3").metadata;
    assert.deepEqual(third.metadata, metadata);
    assert.equal(second.metadata["resourceVersion"], "2", "what was told before stays as it is");
  });

  it("keep managed fields for who looks at them, and share those as well", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: false });
    const [, , third, fourth] = followed(parse, machine("1"), machine("2"), machine("3"), machine("4", {}, "no"));
    assert.deepEqual(fourth, machine("4", {}, "no"));
    const fieldsOf = (of: Machine | undefined): unknown =>
      (of?.metadata["managedFields"] as readonly Json[] | undefined)?.[0]?.["fieldsV1"];
    assert.notEqual(fieldsOf(fourth), undefined);
    assert.equal(fieldsOf(fourth), fieldsOf(third));
  });

  it("share again after their shape changed", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    const more = { data: { a: 1 } };
    const objects = followed(parse, machine("1"), machine("2"), machine("3", more), machine("4", more), machine("5", more));
    assert.equal(objects[4]?.spec, objects[3]?.spec);
    const { managedFields: _, ...metadata } = machine("5").metadata;
    assert.deepEqual(objects[4], { ...machine("5", more), metadata });
  });

  it("come without managed fields also when the metadata changed their shape", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    const labelled = { metadata: { ...machine("3").metadata, finalizers: ["f"] } };
    for (const object of followed(parse, machine("1"), machine("2"), machine("3", labelled), machine("4", labelled), machine("5"))) {
      assert.equal(Object.hasOwn(object.metadata, "managedFields"), false);
    }
  });

  it("are an error when managed fields that are left out are not JSON", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    const text = (time: string): Buffer =>
      lineOf(`{"metadata":{"managedFields":[{"time":${time},"b":"c"}],"name":"a","resourceVersion":"1","uid":"${uid}"}}`);
    for (const time of ['"1"', '"2"', '"3"']) parse(text(time));
    assert.throws(() => parse(text('x"')), { code: "NOT_JSON" });
  });

  it("share nothing with an object that was deleted", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    const [, , third] = followed(parse, machine("1"), machine("2"), machine("3"));
    parse(lineOf(JSON.stringify(machine("4")), "DELETED"));
    const [, fifth] = followed(parse, machine("5"), machine("6"));
    assert.notEqual(fifth?.spec, third?.spec);
  });

  it("share around a list that became longer, behind what changed in it before", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    const said = (message: string, ...more: readonly string[]) => ({
      metadata: { uid, resourceVersion: message },
      spec: { a: { b: message } },
      status: { conditions: [{ type: "Ready", message }, ...more.map((type) => ({ type, message: "new" }))], last: [message] },
    });
    const objects = [said("1"), said("22"), said("333"), said("4", "A"), said("55", "A", "B"), said("6"), said("777"), said("7777", "C")];
    for (const object of objects) assert.deepEqual(parse(lineOf(JSON.stringify(object))).object, object);
  });

  it("share within one watch and not with another", () => {
    const [, , third] = followed(createEventParser({ leavesManagedFieldsOut: true }), machine("1"), machine("2"), machine("3"));
    const [, , other] = followed(createEventParser({ leavesManagedFieldsOut: true }), machine("1"), machine("2"), machine("3"));
    assert.deepEqual(other, third);
    assert.notEqual(other?.spec, third?.spec);
  });

  for (const [name, text] of [
    ["a second type", `{"type":"MODIFIED","object":{"metadata":{"uid":"${uid}"}},"type":"DELETED"}`],
    ["a second object", `{"type":"MODIFIED","object":{"metadata":{"uid":"${uid}"}},"object":{"metadata":{"uid":"${uid}","name":"b"}}}`],
    ["a list and then an object", `{"type":"MODIFIED","object":["${uid}"],"object":{"metadata":{"uid":"${uid}"},"0":"a"}}`],
    ["an object and then a list", `{"type":"MODIFIED","object":{"metadata":{"uid":"${uid}"}},"object":["a"]}`],
  ] as const) {
    it(`are read as JSON.parse reads them when a line has ${name}`, () => {
      const parse = createEventParser({ leavesManagedFieldsOut: true });
      for (let count = 0; count < 6; count += 1) {
        const line = text.replace('"a"', `"${count}"`);
        const { type, object } = JSON.parse(line) as { type: string; object: unknown };
        assert.deepEqual(parse(Buffer.from(line)), { type, object });
      }
    });
  }

  it("are an error when any byte behind what was shared is wrong", () => {
    const text = JSON.stringify(machine("3", { last: [1, { a: "b" }] }));
    const line = lineOf(text);
    for (let length = 0; length < line.length; length += 1) {
      const parse = createEventParser({ leavesManagedFieldsOut: true });
      parse(line);
      parse(line);
      assert.throws(() => parse(line.subarray(0, length)), { name: "KubeTransportFailure", code: "NOT_JSON" });
    }
    for (const tail of ["}", "]", ",", '"', "x", "{}", "\u0001"]) {
      const parse = createEventParser({ leavesManagedFieldsOut: true });
      parse(line);
      parse(line);
      assert.throws(() => parse(Buffer.concat([line, Buffer.from(tail)])), { code: "NOT_JSON" }, tail);
    }
  });

  it("take no key with an escape for another", () => {
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    // As JSON the second key is written like the first one is.
    const [long, short] = ["\\\\", "\\"];
    for (let count = 0; count < 6; count += 1) {
      const object = { metadata: { uid }, spec: { [long]: 1, [short]: count } };
      assert.deepEqual(parse(lineOf(JSON.stringify(object))).object, object);
    }
  });

  it("are not laid beside each other where there are spaces", () => {
    for (const [before, after] of [
      ['"s":[[1], [2,3]]', '"s":[[1], [2,4]]'],
      ['"s":[0, {"a":1,"b":2},3]', '"s":[0, {"a":1,"c":2},3]'],
      ['"s":[ "a,b"]', '"s":[ "a,c"]'],
      ['"s":[1 ,2,3]', '"s":[1 ,2,4]'],
      ['"s":{"a": 1,"b":2}', '"s":{"a": 1,"b":3}'],
    ]) {
      const parse = createEventParser({ leavesManagedFieldsOut: true });
      for (const text of [before, before, before, after, before]) {
        const object = `{"metadata":{"uid":"${uid}"},${text}}`;
        assert.deepEqual(parse(lineOf(object)).object, JSON.parse(object));
      }
    }
  });

  it("are an error where a string in a list does not end, spaces or not", () => {
    for (const [before, after] of [
      ['[ "a,b"]', '[ "a,3]'],
      ['["a,b"]', '["a,3]'],
    ]) {
      for (const text of ['"s":LIST', '"metadata":{"managedFields":LIST,"name":"n"}']) {
        const parse = createEventParser({ leavesManagedFieldsOut: true });
        const line = (list = ""): Buffer => lineOf(`{"uid":"${uid}",${text.replace("LIST", list)}}`);
        for (let count = 0; count < 3; count += 1) parse(line(before));
        assert.throws(() => parse(line(after)), { code: "NOT_JSON" });
      }
    }
  });

  for (const leavesManagedFieldsOut of [true, false]) {
    it(`have managed fields that are no list, or become one, as JSON.parse has them (${leavesManagedFieldsOut ? "left out" : "kept"})`, () => {
      const kinds = ["null", "{}", "1", "[1]", '[{"a":1}]', "[]"];
      for (const before of kinds) {
        for (const after of kinds) {
          const [parse, parseBeside] = [createEventParser({ leavesManagedFieldsOut }), createEventParser({ leavesManagedFieldsOut })];
          for (const fields of [before, before, before, after, after, before]) {
            const metadata = `"metadata":{"managedFields":${fields},"uid":"${uid}"}`;
            const wanted = JSON.parse(`{${metadata}}`) as { metadata: Json };
            if (leavesManagedFieldsOut && fields.startsWith("[")) delete wanted.metadata["managedFields"];
            assert.deepEqual(parse(lineOf(`{${metadata}}`)).object, wanted);
            const beside = parseBeside(lineOf(`{"a":{"managedFields":${fields}},${metadata}}`)).object;
            assert.deepEqual(beside, { a: { managedFields: JSON.parse(fields) as unknown }, ...wanted });
          }
        }
      }
    });
  }

  it("find what changed after what stood before it became longer or shorter", () => {
    const random = createSeededRandom(2);
    const parse = createEventParser({ leavesManagedFieldsOut: true });
    const spec: Record<string, number> = { a: 1, b: 2, c: 3, d: 4, e: 5 };
    for (let count = 0; count < 2_000; count += 1) {
      for (const key of Object.keys(spec))
        if (random.fraction() < 0.3) spec[key] = Math.floor(random.fraction() * 10 ** (random.fraction() * 6));
      const object = { metadata: { uid }, spec, list: Object.values(spec) };
      assert.deepEqual(parse(lineOf(JSON.stringify(object))).object, object);
    }
  });

  it("say what JSON.parse says, in every story of an object", (t) => {
    const shared = play(1, 300, 30);
    t.diagnostic(`${shared} of ${300 * 30} events shared a part with the one before`);
    assert.ok(shared > 3_000, "most stories must be of sharing");
  });
});
