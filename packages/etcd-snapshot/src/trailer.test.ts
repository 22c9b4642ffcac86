import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import * as fc from "fast-check";

import { createTrailerCheck, type TrailerVerdict } from "./trailer.ts";

const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
const sealed = (bytes: Uint8Array): Buffer => Buffer.concat([bytes, sha256(bytes)]);

function verdictOf(bytes: Uint8Array, sizes: readonly number[]): TrailerVerdict {
  const check = createTrailerCheck();
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    // The piece is used again, as a socket's buffer is.
    const piece = Buffer.from(bytes.subarray(at, at + (sizes[turn % sizes.length] ?? 1)));
    check.write(piece);
    at += piece.length;
    piece.fill(0xff);
  }
  return check.finish();
}

const database = Buffer.alloc(8192, "etcd");
const good = sealed(database);

describe("IN86: a snapshot is cut or changed", () => {
  test("whole", () => {
    assert.deepEqual(verdictOf(good, [1024]), { fault: undefined, size: 8224, sha256: sha256(database).toString("hex") });
  });
  for (const [what, bytes, fault] of [
    ["nothing", Buffer.alloc(0), "too-short"],
    ["one byte", good.subarray(0, 1), "too-short"],
    ["a trailer of nothing", sealed(Buffer.alloc(0)), "too-short"],
    ["cut to 512 k + 31", good.subarray(0, -1), "no-trailer"],
    ["512 k + 33", Buffer.concat([good, Buffer.alloc(1)]), "no-trailer"],
    ["without its digest", database, "no-trailer"],
    ["cut to 512 k + 32, between pages", good.subarray(0, 4096 + 32), "wrong-digest"],
    ["with another digest", Buffer.concat([database, Buffer.alloc(32)]), "wrong-digest"],
    ["with the digest of another file", Buffer.concat([database, sha256(Buffer.alloc(8192))]), "wrong-digest"],
    ["with a bit turned", Buffer.from(good).fill(good.readUInt8(5000) ^ 1, 5000, 5001), "wrong-digest"],
  ] as const)
    test(what, () => assert.equal(verdictOf(bytes, [1024]).fault, fault));
});

test("the verdict does not depend on the size of the pieces", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: -2, max: 2 }),
      fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 20 }),
      (sectors, extra, sizes) => {
        const whole = sealed(Buffer.alloc(sectors * 512, 7));
        const bytes = extra < 0 ? whole.subarray(0, extra) : Buffer.concat([whole, Buffer.alloc(extra)]);
        const before = bytes.subarray(0, Math.max(0, bytes.length - 32));
        assert.deepEqual(verdictOf(bytes, sizes), {
          fault: bytes.length < 544 ? "too-short" : extra === 0 ? undefined : "no-trailer",
          size: bytes.length,
          sha256: sha256(before).toString("hex"),
        });
      },
    ),
  );
});
