/** What the tests of the calls share. */
import assert from "node:assert/strict";

import { createTalosClient } from "../client.ts";
import type { TalosClient } from "../client.ts";
import { isTalosError } from "../errors.ts";
import type { TalosErrorCode } from "../errors.ts";
import { createMemoryChannel } from "./memory-channel.ts";
import type { MemoryChannel } from "./memory-channel.ts";

export interface TestClient {
  readonly client: TalosClient;
  readonly channel: MemoryChannel;
  /** The n-th request that was sent. */
  readonly request: <T>(index?: number) => T;
}

/** A client whose machine answers from a table. */
export function clientOf(handlers: Parameters<typeof createMemoryChannel>[0]): TestClient {
  const channel = createMemoryChannel(handlers);
  return { client: createTalosClient(channel), channel, request: <T>(index = 0) => channel.calls[index]?.request as T };
}

export async function rejectsWith(promise: Promise<unknown>, code: TalosErrorCode, text?: RegExp): Promise<void> {
  await assert.rejects(promise, (thrown) => {
    assert.ok(isTalosError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    if (text !== undefined) assert.match(thrown.message, text);
    return true;
  });
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
