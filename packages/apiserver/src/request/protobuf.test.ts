import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { definitions } from "../builtin/gen/definitions.ts";
import { messageFields } from "./gen/protobuf-messages.ts";
import { objectAt } from "./json.ts";
import { decodeKubernetesProtobuf } from "./protobuf.ts";

interface Recorded {
  readonly command: string;
  /** Base64 of what kubectl 1.36.3 sent. */
  readonly body: string;
  readonly object: unknown;
}

const file = join(import.meta.dirname, "../../testdata/protobuf/bodies.json");
const recorded = JSON.parse(readFileSync(file, "utf8")) as readonly Recorded[];

describe("protobuf bodies", () => {
  for (const { command, body, object } of recorded) {
    it(`of kubectl ${command} are read as the JSON that it would have sent`, () => {
      assert.deepEqual(decodeKubernetesProtobuf(Buffer.from(body, "base64")), object);
    });
  }

  /** A message of one field: its number, and a text or a whole number. */
  const field = (number: number, value: string | Buffer | number): Buffer => {
    if (typeof value === "number") return Buffer.from([number << 3, ...Buffer.from([value])]);
    const bytes = Buffer.from(value);
    return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  };
  const body = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
    Buffer.concat([Buffer.from("k8s\0"), field(1, Buffer.concat([field(1, apiVersion), field(2, kind)])), field(2, raw)]);
  const podWith = (volume: Buffer): unknown => decodeKubernetesProtobuf(body("v1", "Pod", field(2, field(1, volume))));

  it("name every field as JSON does", () => {
    const renamed = Object.entries(messageFields).flatMap(([message, fields]) => {
      const known = objectAt(definitions[message.replace(/^k8s\.io\./, "io.k8s.")], "properties");
      const names = fields.split(";").map((line) => line.split(" "));
      const own = names.flatMap(([, name = "", type = ""]) => (type.startsWith("~") ? [] : [name]));
      return Object.keys(known).length === 0 ? [] : own.filter((name) => known[name] === undefined).map((name) => `${message}.${name}`);
    });
    assert.deepEqual(renamed, []);
    assert.match(messageFields["k8s.io.api.authentication.v1.BoundObjectReference"] ?? "", / uid /);
  });

  it("keep an empty struct that was given and drop one that was not", () => {
    const emptyDir = Buffer.concat([field(1, "v"), field(2, field(2, Buffer.alloc(0)))]);
    assert.deepEqual(podWith(emptyDir), { apiVersion: "v1", kind: "Pod", spec: { volumes: [{ name: "v", emptyDir: {} }] } });
  });

  it("keep false and zero where they were given, and read negative numbers", () => {
    const minusOne = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    // automountServiceAccountToken is a pointer, hostNetwork is none.
    const spec = Buffer.concat([
      Buffer.from([((21 << 3) & 0x7f) | 0x80, 0x01, 0x00]),
      Buffer.from([11 << 3, 0x00]),
      Buffer.from([4 << 3]),
      minusOne,
    ]);
    const pod = decodeKubernetesProtobuf(body("v1", "Pod", field(2, spec))) as { spec: unknown };
    assert.deepEqual(pod.spec, { automountServiceAccountToken: false, terminationGracePeriodSeconds: -1 });
  });

  it("are refused with 415 when they hold a field that we do not know", () => {
    assert.throws(() => decodeKubernetesProtobuf(body("v1", "ConfigMap", field(15, "A"))), { code: 415 });
    assert.throws(() => decodeKubernetesProtobuf(body("v1", "Unheard", Buffer.alloc(0))), { code: 415 });
  });

  it("are refused with 400 when they are no messages", () => {
    for (const broken of [Buffer.from("k8s\0\xff\xff"), Buffer.from("nope"), body("v1", "ConfigMap", Buffer.from([0x0a, 0x7f]))]) {
      assert.throws(() => decodeKubernetesProtobuf(broken), { code: 400 });
    }
  });
});

describe("protobuf that is none", () => {
  /** A varint of 64 bits, as Go writes numbers below zero, too. */
  const varint = (number: bigint): number[] => {
    const bytes: number[] = [];
    for (let left = BigInt.asUintN(64, number); ; left >>= 7n) {
      if (left < 0x80n) return [...bytes, Number(left)];
      bytes.push(Number(left & 0x7fn) | 0x80);
    }
  };
  for (const length of [-1n, -11n, -(2n ** 63n), 2n ** 40n]) {
    it(`a field of ${length} bytes is refused`, () => {
      const body = Uint8Array.from([0x6b, 0x38, 0x73, 0x00, 0x0a, ...varint(length)]);
      assert.throws(() => decodeKubernetesProtobuf(body), { code: 400 });
    });
  }
});
