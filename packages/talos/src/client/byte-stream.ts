import type { TalosMethod } from "@talos-operator/ports";

import type { Data } from "../gen/common/common_pb.ts";
import { refusePartError, STREAM_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { TalosError } from "./errors.ts";

/** The bytes of a stream of `common.Data`, chunk by chunk (up to 1 KiB each). A failure inside a chunk is thrown. */
export async function* byteStream<I>(
  caller: Caller,
  method: TalosMethod<I, Data>,
  request: I,
  options: CallOptions | undefined,
  defaultTimeoutMs: number = STREAM_TIMEOUT_MS,
): AsyncGenerator<Uint8Array, void, undefined> {
  const facts = { node: options?.node ?? caller.channel.target.address, method: method.path };
  for await (const data of caller.stream(method, request, defaultTimeoutMs, options)) {
    refusePartError(data, facts);
    if (data.bytes.length > 0) yield data.bytes;
  }
}

/**
 * Everything a stream of bytes holds.
 *
 * @throws TalosError `RESOURCE_EXHAUSTED` beyond `maxBytes`; the call is then canceled
 */
export async function collectBytes<I>(
  caller: Caller,
  method: TalosMethod<I, Data>,
  request: I,
  limits: { readonly maxBytes: number; readonly timeoutMs: number },
  options: CallOptions | undefined,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of byteStream(caller, method, request, options, limits.timeoutMs)) {
    size += chunk.length;
    if (size > limits.maxBytes) {
      const facts = { node: options?.node ?? caller.channel.target.address, method: method.path };
      throw new TalosError("RESOURCE_EXHAUSTED", facts, `answer is longer than ${limits.maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
