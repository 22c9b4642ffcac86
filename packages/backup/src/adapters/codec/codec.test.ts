import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

import { until } from "@talos-operator/adapters/testing";
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";

import { CodecFailure } from "../../worker/deps.ts";
import { backupCodec } from "./codec.ts";

async function* pieces(bytes: Uint8Array, size = 10_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const plain = Buffer.concat([randomBytes(300_000), Buffer.alloc(500_000, "talos "), randomBytes(7)]);

test("zstd is what others read and write", async () => {
  const compressed = await collect(backupCodec.compress(pieces(plain)));
  assert.deepEqual(zstdDecompressSync(compressed), plain);
  assert.deepEqual(await collect(backupCodec.decompress(pieces(zstdCompressSync(plain)))), plain);
});

const hasZstd = spawnSync("zstd", ["--version"]).error === undefined;
test("zstd is what the tool of that name reads", { skip: !hasZstd && "there is no zstd on this machine" }, async () => {
  const input = await collect(backupCodec.compress(pieces(plain)));
  assert.deepEqual(spawnSync("zstd", ["-d", "-c"], { input, maxBuffer: 1 << 26 }).stdout, plain);
});

test("age files are those of the library, for each of two recipients", async () => {
  const identities = [await generateX25519Identity(), await generateX25519Identity()] as const;
  const recipients = await Promise.all(identities.map(identityToRecipient));
  const encrypted = await collect(backupCodec.encrypt(pieces(plain), recipients));
  assert.equal(encrypted.subarray(0, 22).toString(), "age-encryption.org/v1\n");
  for (const identity of identities) {
    assert.deepEqual(await collect(backupCodec.decrypt(pieces(encrypted), identity)), plain);
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    assert.deepEqual(Buffer.from(await decrypter.decrypt(encrypted)), plain);
  }
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipients[0] ?? "");
  const theirs = await encrypter.encrypt(plain);
  assert.deepEqual(await collect(backupCodec.decrypt(pieces(theirs), `# created: today\n${identities[0]}\n`)), plain);
});

test("empty bytes survive", async () => {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const stored = await collect(backupCodec.encrypt(backupCodec.compress(pieces(Buffer.alloc(0))), [recipient]));
  assert.equal((await collect(backupCodec.decompress(backupCodec.decrypt(pieces(stored), identity)))).length, 0);
});

async function failure(chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  return collect(chunks).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("cut and changed bytes are damage", async () => {
  const identity = await generateX25519Identity();
  const compressed = await collect(backupCodec.compress(pieces(plain)));
  const encrypted = await collect(backupCodec.encrypt(pieces(plain), [await identityToRecipient(identity)]));
  const changed = (bytes: Buffer, at: number): Buffer => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  for (const bytes of [
    compressed.subarray(0, 200_000),
    compressed.subarray(0, 1000),
    changed(compressed, 0),
    changed(compressed, 100_000),
  ]) {
    const error = await failure(backupCodec.decompress(pieces(bytes)));
    assert.ok(error instanceof CodecFailure && error.kind === "damaged", String(error));
  }
  for (const bytes of [
    encrypted.subarray(0, -1),
    encrypted.subarray(0, 50),
    encrypted.subarray(0, 300),
    changed(encrypted, 250),
    changed(encrypted, encrypted.length - 1),
  ]) {
    const error = await failure(backupCodec.decrypt(pieces(bytes), identity));
    assert.ok(error instanceof CodecFailure && error.kind === "damaged", String(error));
  }
});

test("recipients and identities that are none, or of somebody else, are told apart", async () => {
  const mine = await generateX25519Identity();
  const encrypted = await collect(backupCodec.encrypt(pieces(plain), [await identityToRecipient(mine)]));
  for (const identity of ["", "nonsense", mine.slice(0, -1), await generateX25519Identity()]) {
    const error = await failure(backupCodec.decrypt(pieces(encrypted), identity));
    assert.ok(error instanceof CodecFailure && error.kind === "bad-identity", String(error));
    assert.ok(identity === "" || !`${error.message}${String(error.cause)}`.includes(identity));
  }
  for (const recipient of ["age1", "age1qqqq", "ssh-ed25519 AAAA", mine]) {
    const error = await failure(backupCodec.encrypt(pieces(plain), [recipient]));
    assert.ok(error instanceof CodecFailure && error.kind === "bad-recipient", String(error));
  }
});

test("what the source throws comes out as it is", async () => {
  const cause = new Error("the machine went away");
  const broken = async function* (): AsyncGenerator<Uint8Array> {
    yield plain;
    throw cause;
  };
  const identity = await generateX25519Identity();
  const recipients = [await identityToRecipient(identity)];
  assert.equal(await failure(backupCodec.compress(broken())), cause);
  assert.equal(await failure(backupCodec.encrypt(broken(), recipients)), cause);
  assert.equal(await failure(backupCodec.encrypt(backupCodec.compress(broken()), recipients)), cause);
});

test("who stops reading ends the source", async () => {
  let isEnded = false;
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield randomBytes(100_000);
    } finally {
      isEnded = true;
    }
  };
  for await (const _ of backupCodec.compress(endless())) break;
  await until("the source ended", () => isEnded);
});
