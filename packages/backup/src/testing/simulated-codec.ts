import { createHash } from "node:crypto";

import { CodecFailure, type BackupCodec } from "../worker/deps.ts";

/**
 * A codec for virtual time: no thread, no chance, no waiting. What it makes can be read by itself alone.
 *
 * It compresses nothing and frames its bytes with their length and a checksum; it hides bytes under a stream of digests, and an identity `AGE-SECRET-KEY-1X` fits the
 * recipient `age1x`. Damage and wrong keys are noticed as the genuine one notices them.
 */
export const simulatedCodec: BackupCodec = {
  compress: (plain) => framed("sim-zstd\n", plain),
  decompress: (compressed) => unframed("sim-zstd\n", compressed),
  async *encrypt(plain, recipients) {
    for (const recipient of recipients)
      if (!/^age1[0-9a-z]+$/.test(recipient))
        throw new CodecFailure("bad-recipient", `${JSON.stringify(recipient)} is no recipient of age`);
    const header = Buffer.from(`sim-age ${recipients.join(",")}\n`);
    yield header;
    yield* hidden(framed("", plain), header);
  },
  async *decrypt(encrypted, identity) {
    const recipient = recipientOf(identity);
    const whole = await collect(encrypted);
    const end = whole.indexOf("\n") + 1;
    const recipients = /^sim-age (.+)\n$/.exec(whole.subarray(0, end).toString("latin1"))?.[1]?.split(",");
    if (recipients === undefined) throw new CodecFailure("damaged", "the bytes are no whole age file, or were changed");
    if (!recipients.includes(recipient)) throw new CodecFailure("bad-identity", "the identity is of none of the recipients");
    yield* unframed("", hidden(once(whole.subarray(end)), whole.subarray(0, end)));
  },
};

function recipientOf(identity: string): string {
  const name = /^AGE-SECRET-KEY-1([0-9A-Z]+)$/.exec(identity.trim())?.[1];
  if (name === undefined) throw new CodecFailure("bad-identity", "it is no identity of age");
  return `age1${name.toLowerCase()}`;
}

/** The magic, the bytes, and in the end their SHA-256. */
async function* framed(magic: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash("sha256");
  if (magic !== "") yield Buffer.from(magic);
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  yield hash.digest();
}

async function* unframed(magic: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const whole = await collect(chunks);
  const body = whole.subarray(magic.length, -32);
  const isGood = whole.length >= magic.length + 32 && whole.subarray(0, magic.length).toString("latin1") === magic;
  if (!isGood || !createHash("sha256").update(body).digest().equals(whole.subarray(-32)))
    throw new CodecFailure("damaged", "the bytes are not what was written");
  yield body;
}

async function* hidden(chunks: AsyncIterable<Uint8Array>, header: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  const veil = createHash("sha512").update(header).digest();
  let at = 0;
  for await (const chunk of chunks) {
    yield chunk.map((byte) => byte ^ (veil[at++ % veil.length] as number));
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
