import { ReadableStream } from "node:stream/web";

import type { Decrypter, Encrypter } from "age-encryption";

import { CodecFailure } from "../../worker/deps.ts";
import { watched } from "./watched.ts";

/** Encrypts to `recipients`: `age1…`, and `age1pq1…` after quantum computers. */
export async function* encryptAge(
  plain: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const encrypter = await createEncrypter(recipients);
  const { chunks, failure } = watched(plain);
  try {
    yield* streamed(await encrypter.encrypt(webStream(chunks)));
  } catch (error) {
    throw failure()?.error ?? error;
  }
}

export async function* decryptAge(encrypted: AsyncIterable<Uint8Array>, identity: string): AsyncGenerator<Uint8Array, void, undefined> {
  const decrypter = await createDecrypter(identity);
  const { chunks, failure } = watched(encrypted);
  try {
    yield* streamed(await decrypter.decrypt(webStream(chunks)));
  } catch (error) {
    const first = failure();
    if (first !== undefined) throw first.error;
    if (error instanceof Error && /no identity matched/i.test(error.message))
      throw new CodecFailure(
        "bad-identity",
        "the identity is of none of the recipients to whom this is encrypted. Give the one of a recipient",
        { cause: error },
      );
    throw new CodecFailure("damaged", "the bytes are no whole age file, or were changed", { cause: error });
  }
}

async function createEncrypter(recipients: readonly string[]): Promise<Encrypter> {
  const age = await import("age-encryption");
  const encrypter = new age.Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (error) {
      throw new CodecFailure(
        "bad-recipient",
        `${JSON.stringify(recipient.slice(0, 80))} is no recipient of age. Give what age-keygen calls the public key`,
        { cause: error },
      );
    }
  }
  return encrypter;
}

async function createDecrypter(identity: string): Promise<Decrypter> {
  const age = await import("age-encryption");
  const decrypter = new age.Decrypter();
  const lines = identity.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (keys.length === 0) throw new CodecFailure("bad-identity", "there is no identity in it. Give what age-keygen wrote");
  for (const key of keys) {
    try {
      decrypter.addIdentity(key);
    } catch {
      // Without its cause, which may quote the key.
      throw new CodecFailure("bad-identity", "it is no identity of age. Give what age-keygen wrote, with a line AGE-SECRET-KEY-1…");
    }
  }
  return decrypter;
}

/** One chunk is asked for when it is wanted. */
function webStream(chunks: AsyncIterable<Uint8Array>): globalThis.ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks);
}

async function* streamed(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of stream) yield chunk;
}
