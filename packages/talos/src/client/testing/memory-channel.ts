/** A channel whose machine is a table of handlers, and which notes what was asked. For tests. */
import type { TalosCallFailure, TalosCallOptions, TalosChannel, TalosMethod } from "@talos-operator/ports";

export interface SeenCall {
  readonly path: string;
  readonly request: unknown;
  readonly options: TalosCallOptions;
}

export interface MemoryChannel extends TalosChannel {
  readonly calls: SeenCall[];
  readonly isClosed: () => boolean;
}

type Handler = (request: never) => unknown;

/** Unary handlers return a reply, stream handlers an (async) iterable of replies, upload handlers get all messages; a thrown error is the call's failure. */
export function createMemoryChannel(handlers: Readonly<Record<string, Handler>>): MemoryChannel {
  const calls: SeenCall[] = [];
  let isClosed = false;
  const answer = (method: { readonly path: string }, request: unknown, options: TalosCallOptions): unknown => {
    calls.push({ path: method.path, request, options });
    const handler = handlers[method.path];
    if (handler === undefined) throw callFailure(12, `unknown method ${method.path}`);
    return handler(request as never);
  };
  return {
    target: { address: "10.5.0.2" },
    calls,
    isClosed: () => isClosed,
    unary: <I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions) =>
      Promise.resolve().then(() => answer(method, request, options) as O),
    async *serverStream<I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions) {
      yield* answer(method, request, options) as AsyncIterable<O>;
    },
    async upload<I, O>(method: TalosMethod<I, O>, requests: AsyncIterable<I>, options: TalosCallOptions) {
      const messages: I[] = [];
      for await (const message of requests) messages.push(message);
      return answer(method, messages, options) as O;
    },
    peerSpki: () => "spki",
    close: () => {
      isClosed = true;
    },
  };
}

export function callFailure(code: number, message: string, facts: Partial<Pick<TalosCallFailure, "tls" | "peer">> = {}): TalosCallFailure {
  return Object.assign(new Error(message), { name: "TalosCallFailure" as const, code, ...facts });
}
