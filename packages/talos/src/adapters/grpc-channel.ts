import { once } from "node:events";
import { isIP } from "node:net";

import { Client, Metadata } from "@grpc/grpc-js";
import type { ChannelOptions, ClientWritableStream, ServiceError } from "@grpc/grpc-js";
import type { TalosCallFailure, TalosCallOptions, TalosChannel, TalosCredentials, TalosMethod, TalosTarget } from "@talos-operator/ports";

import { callFailure } from "./call-failure.ts";
import { TlsCredentials } from "./tls-credentials.ts";
import type { ConnectionRecord } from "./tls-credentials.ts";

export const DEFAULT_PORT = 50_000;
/** What machines send and take at most. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

const CHANNEL_OPTIONS: ChannelOptions = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  // Connections are never shared between channels, so credentials never mix.
  "grpc.use_local_subchannel_pool": 1,
  // A machine is reached directly; a proxy would see nothing but break everything.
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  // Repeating an effect is the caller's decision.
  "grpc.enable_retries": 0,
  // A machine that boots is looked at every second or so; grpc-js's own default grows to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // Talos keeps grpc-go's rule that pings more frequent than every five minutes end the connection.
  "grpc.keepalive_time_ms": 310_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.client_idle_timeout_ms": 300_000,
};

interface Connection {
  readonly client: Client;
  readonly credentials: TlsCredentials;
}

/**
 * A channel over gRPC to exactly one address.
 *
 * A unary call that runs into its deadline makes the next call open a new connection: the old one may be half open, and nothing
 * else would find out for many minutes. Calls that still run on the old one keep it until they end.
 *
 * @throws Error when a certificate or key of `credentials` cannot be read
 */
export function createGrpcChannel(target: TalosTarget, credentials: TalosCredentials): TalosChannel {
  const record: ConnectionRecord = { spki: undefined, failure: undefined };
  const open = (): Connection => {
    const tls = new TlsCredentials(target, credentials, record);
    return { client: new Client(grpcAddress(target), tls, CHANNEL_OPTIONS), credentials: tls };
  };
  const drop = (old: Connection): void => {
    old.credentials.abandonPending();
    old.client.close();
  };
  let connection: Connection | undefined = open();
  let isClosed = false;
  const current = (): Connection => {
    if (isClosed) throw closedFailure();
    return (connection ??= open());
  };

  const one = async <O>(
    method: { readonly decode: (bytes: Uint8Array) => O },
    options: TalosCallOptions,
    send: (client: Client) => Promise<Uint8Array>,
  ): Promise<O> => {
    const used = current();
    try {
      return method.decode(await send(used.client));
    } catch (thrown) {
      const failure = toFailure(thrown, record, options);
      if (failure instanceof Error && "code" in failure && failure.code === DEADLINE_EXCEEDED && connection === used) {
        connection = undefined;
        drop(used);
      }
      throw failure;
    }
  };

  return {
    target,
    unary: (method, request, options) => one(method, options, (client) => sendUnary(client, method, request, options)),
    upload: (method, requests, options) => one(method, options, (client) => sendStream(client, method, requests, options)),
    serverStream: (method, request, options) => receiveStream(() => current().client, method, request, options, record),
    peerSpki: () => record.spki,
    close: () => {
      isClosed = true;
      if (connection !== undefined) drop(connection);
      connection = undefined;
    },
  };
}

const DEADLINE_EXCEEDED = 4;

function sendUnary<I, O>(client: Client, method: TalosMethod<I, O>, request: I, options: TalosCallOptions): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    if (signal?.aborted === true) return reject(canceledFailure());
    const call = client.makeUnaryRequest<I, Uint8Array>(
      method.path,
      (message) => toBuffer(method.encode(message)),
      (bytes) => bytes,
      request,
      metadataOf(options),
      { deadline: deadlineOf(options) },
      (error, reply) => {
        signal?.removeEventListener("abort", onAbort);
        if (error !== null) reject(error);
        else resolve(reply ?? new Uint8Array());
      },
    );
    const onAbort = (): void => call.cancel();
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** @throws whatever `requests` throws, else an error of grpc-js */
async function sendStream<I, O>(
  client: Client,
  method: TalosMethod<I, O>,
  requests: AsyncIterable<I>,
  options: TalosCallOptions,
): Promise<Uint8Array> {
  const { signal } = options;
  if (signal?.aborted === true) throw canceledFailure();
  let call: ClientWritableStream<I> | undefined;
  let isOver = false;
  const reply = new Promise<Uint8Array>((resolve, reject) => {
    call = client.makeClientStreamRequest<I, Uint8Array>(
      method.path,
      (message) => toBuffer(method.encode(message)),
      (bytes) => bytes,
      metadataOf(options),
      { deadline: deadlineOf(options) },
      (error, bytes) => {
        isOver = true;
        if (error !== null) reject(error);
        else resolve(bytes ?? new Uint8Array());
      },
    );
  });
  const sending = call;
  if (sending === undefined) return reply;
  // The failure itself comes with the reply; both may be waited for too late.
  reply.catch(() => undefined);
  sending.on("error", () => undefined);
  const onAbort = (): void => sending.cancel();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const message of requests) {
      if (isOver) break;
      if (!sending.write(message)) await Promise.race([once(sending, "drain"), reply]);
    }
    sending.end();
    return await reply;
  } catch (thrown) {
    sending.cancel();
    throw thrown;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

async function* receiveStream<I, O>(
  client: () => Client,
  method: TalosMethod<I, O>,
  request: I,
  options: TalosCallOptions,
  record: ConnectionRecord,
): AsyncGenerator<O, void, undefined> {
  const { signal } = options;
  if (signal?.aborted === true) throw canceledFailure();
  const call = client().makeServerStreamRequest<I, Uint8Array>(
    method.path,
    (message) => toBuffer(method.encode(message)),
    (bytes) => bytes,
    request,
    metadataOf(options),
    { deadline: deadlineOf(options) },
  );
  // Canceling below makes the call emit an error that nobody waits for any more.
  call.on("error", () => undefined);
  const onAbort = (): void => call.cancel();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const bytes of call) yield method.decode(bytes as Uint8Array);
  } catch (thrown) {
    throw toFailure(thrown, record, options);
  } finally {
    signal?.removeEventListener("abort", onAbort);
    call.cancel();
  }
}

/** Errors of grpc-js as failures of the port; anything else (a reply that cannot be decoded) stays what it is. */
function toFailure(thrown: unknown, record: ConnectionRecord, options: TalosCallOptions): unknown {
  return isServiceError(thrown) ? callFailure(thrown.code, thrown.details, record.failure, options.timeoutMs) : thrown;
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && "details" in thrown && "code" in thrown && typeof thrown.code === "number";
}

function canceledFailure(): TalosCallFailure {
  return callFailure(1, "the caller canceled before the call was sent", undefined);
}

function closedFailure(): TalosCallFailure {
  return callFailure(1, "the channel is closed", undefined);
}

function metadataOf(options: TalosCallOptions): Metadata {
  const metadata = new Metadata();
  if (options.node !== undefined) metadata.set("node", options.node);
  return metadata;
}

function deadlineOf(options: TalosCallOptions): Date {
  return new Date(Date.now() + options.timeoutMs);
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function grpcAddress(target: TalosTarget): string {
  const port = target.port ?? DEFAULT_PORT;
  switch (isIP(target.address)) {
    case 4:
      return `ipv4:${target.address}:${port}`;
    case 6:
      return `ipv6:[${target.address}]:${port}`;
    default:
      return `dns:${target.address}:${port}`;
  }
}
