import type { TalosChannel, TalosMethod } from "@talos-operator/ports";

import type { Metadata } from "../gen/common/common_pb.ts";
import { TalosError } from "./errors.ts";
import type { TalosErrorFacts } from "./errors.ts";

/** Options of every call of the client. */
export interface CallOptions {
  /** Deadline of the whole call, of the whole stream for streams. Each call says its default. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** The machine behind the endpoint that should answer (`node` metadata). Without it the machine that we connected to answers. */
  readonly node?: string;
}

/** Default deadline of a look, in milliseconds. */
export const READ_TIMEOUT_MS = 10_000;
/** Default deadline of an effect that answers as soon as it is accepted, in milliseconds. */
export const EFFECT_TIMEOUT_MS = 30_000;
/** Default deadline of a stream, in milliseconds. */
export const STREAM_TIMEOUT_MS = 600_000;

interface ReplyPart {
  readonly metadata?: Metadata | undefined;
}

/** A channel whose failures are TalosErrors. The services are built on it. */
export interface Caller {
  readonly channel: TalosChannel;
  unary<I, O>(method: TalosMethod<I, O>, request: I, defaultTimeoutMs: number, options?: CallOptions): Promise<O>;
  /** A unary call whose reply holds one entry per node: returns the only one. */
  one<I, P extends ReplyPart>(
    method: TalosMethod<I, { readonly messages: readonly P[] }>,
    request: I,
    defaultTimeoutMs: number,
    options?: CallOptions,
  ): Promise<P>;
  /** An upload whose reply holds one entry per node: returns the only one. A failure of `requests` is thrown as it is. */
  upload<I, P extends ReplyPart>(
    method: TalosMethod<I, { readonly messages: readonly P[] }>,
    requests: AsyncIterable<I>,
    defaultTimeoutMs: number,
    options?: CallOptions,
  ): Promise<P>;
  /** Leaving the loop cancels the call. Ends with an error when the deadline passes or the signal aborts. */
  stream<I, O>(method: TalosMethod<I, O>, request: I, defaultTimeoutMs: number, options?: CallOptions): AsyncIterable<O>;
}

export function createCaller(channel: TalosChannel): Caller {
  const factsOf = (method: { readonly path: string }, options: CallOptions | undefined): TalosErrorFacts => ({
    node: options?.node ?? channel.target.address,
    method: method.path,
  });
  const unary: Caller["unary"] = async (method, request, defaultTimeoutMs, options) => {
    try {
      return await channel.unary(method, request, { timeoutMs: defaultTimeoutMs, ...definedOnly(options) });
    } catch (thrown) {
      throw TalosError.from(thrown, factsOf(method, options));
    }
  };
  return {
    channel,
    unary,
    async one(method, request, defaultTimeoutMs, options) {
      const reply = await unary(method, request, defaultTimeoutMs, options);
      return onlyPart(reply.messages, factsOf(method, options));
    },
    async upload(method, requests, defaultTimeoutMs, options) {
      const source = watched(requests);
      try {
        const reply = await channel.upload(method, source.items, { timeoutMs: defaultTimeoutMs, ...definedOnly(options) });
        return onlyPart(reply.messages, factsOf(method, options));
      } catch (thrown) {
        if (source.failure()?.thrown === thrown) throw thrown;
        throw TalosError.from(thrown, factsOf(method, options));
      }
    },
    async *stream(method, request, defaultTimeoutMs, options) {
      const facts = factsOf(method, options);
      try {
        for await (const message of channel.serverStream(method, request, { timeoutMs: defaultTimeoutMs, ...definedOnly(options) })) {
          yield message;
        }
      } catch (thrown) {
        throw TalosError.from(thrown, facts);
      }
    },
  };
}

/** `items`, and what they failed with: a fault of the caller's source is no fault of the machine. */
function watched<I>(requests: AsyncIterable<I>): {
  readonly items: AsyncIterable<I>;
  readonly failure: () => { readonly thrown: unknown } | undefined;
} {
  let failure: { readonly thrown: unknown } | undefined;
  const items = async function* (): AsyncGenerator<I, void, undefined> {
    try {
      yield* requests;
    } catch (thrown) {
      failure = { thrown };
      throw thrown;
    }
  };
  return { items: items(), failure: () => failure };
}

/**
 * The entry of the one node that was asked.
 *
 * @throws TalosError when the entry carries an error, is missing, or there are entries of several nodes
 */
function onlyPart<P extends ReplyPart>(messages: readonly P[], facts: TalosErrorFacts): P {
  const [part] = messages;
  if (part === undefined || messages.length !== 1) {
    throw new TalosError("MALFORMED_REPLY", facts, `reply holds ${messages.length} entries instead of one`);
  }
  refusePartError(part, facts);
  // Only a machine that passes a call on writes down who answered, and we ask no machine to do that but by name.
  const answered = part.metadata?.hostname ?? "";
  if (answered !== "" && answered !== facts.node)
    throw new TalosError("MALFORMED_REPLY", facts, "reply is of another machine than the one that was asked");
  return part;
}

/** A forwarding machine reports the failure of the machine behind it inside an OK reply. */
export function refusePartError(part: ReplyPart, facts: TalosErrorFacts): void {
  const metadata = part.metadata;
  if (metadata === undefined || (metadata.error === "" && (metadata.status?.code ?? 0) === 0)) return;
  const failure = Object.assign(new Error(metadata.error === "" ? (metadata.status?.message ?? "") : metadata.error), {
    name: "TalosCallFailure",
    code: metadata.status?.code ?? 2,
  });
  throw TalosError.from(failure, facts);
}

/** Options as the channel takes them: absent keys stay absent. */
function definedOnly(options: CallOptions | undefined): CallOptions {
  return {
    ...(options?.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options?.signal === undefined ? {} : { signal: options.signal }),
    ...(options?.node === undefined ? {} : { node: options.node }),
  };
}
