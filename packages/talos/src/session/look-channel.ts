import type { TalosCallOptions, TalosChannel, TalosMethod } from "@talos-operator/ports";

import { TalosError } from "../client/errors.ts";
import type { TalosErrorFacts } from "../client/errors.ts";
import { LOOK_PATHS } from "./look-methods.ts";
import { callFailure, NoEndpoint } from "./session-link.ts";
import type { Attempt, Connection, SessionLink } from "./session-link.ts";

const DEADLINE_EXCEEDED = 4;

/**
 * A channel to one machine that goes through the session's endpoint. Sends looks only, so it may send one again through the next endpoint.
 *
 * `peerSpki` is that of the machine while it is the endpoint itself, `undefined` otherwise: nobody has proved to us who answers.
 */
export function createLookChannel(link: SessionLink, node: string): TalosChannel {
  let direct: Connection | undefined;
  const factsOf = (method: { readonly path: string }): TalosErrorFacts => ({ node, method: method.path });

  /** Runs `send` through one endpoint after another until one of them lives. The attempt that succeeded is to be ended by the caller. */
  const through = async <R>(
    method: { readonly path: string },
    options: TalosCallOptions,
    send: (channel: TalosChannel, options: TalosCallOptions) => Promise<R>,
  ): Promise<{ readonly result: R; readonly attempt: Attempt }> => {
    if (!LOOK_PATHS.has(method.path))
      throw new TalosError("PERMISSION_DENIED", factsOf(method), "this call does not go through a session: dial the machine itself");
    const until = link.clock.now() + options.timeoutMs;
    const tried = new Set<string>();
    let last: unknown;
    for (;;) {
      // The clock may jump back.
      const timeoutMs = Math.min(options.timeoutMs, until - link.clock.now());
      if (timeoutMs <= 0) throw last ?? callFailure(DEADLINE_EXCEEDED, "no time is left");
      const connection = connectTo(link, tried, last, factsOf(method));
      direct = connection.address === node ? connection : undefined;
      const attempt = link.begin(connection, { ...options, timeoutMs, ...(direct === undefined ? { node } : {}) });
      try {
        const result = await send(connection.channel, attempt.options);
        attempt.answered();
        link.answered(connection);
        return { result, attempt };
      } catch (thrown) {
        last = attempt.failure(thrown);
        const isDead = options.signal?.aborted !== true && (await link.isEndpointDead(connection, last));
        attempt.end();
        if (!isDead) throw last;
        tried.add(connection.address);
      }
    }
  };

  return {
    target: { address: node },
    unary: async <I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions): Promise<O> => {
      const { result, attempt } = await through(method, options, (channel, given) => channel.unary(method, request, given));
      attempt.end();
      return result;
    },
    upload: <I, O>(method: TalosMethod<I, O>): Promise<O> =>
      Promise.reject(
        new TalosError("PERMISSION_DENIED", factsOf(method), "an upload does not go through a session: dial the machine itself"),
      ),
    async *serverStream<I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions): AsyncGenerator<O, void, undefined> {
      // The first message decides whether the endpoint lives; what follows cannot be sent again.
      const { result, attempt } = await through(method, options, async (channel, given) => {
        const iterator = channel.serverStream(method, request, given)[Symbol.asyncIterator]();
        return { iterator, first: await iterator.next() };
      });
      const { iterator, first } = result;
      try {
        for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
      } finally {
        await iterator.return?.();
        attempt.end();
      }
    },
    peerSpki: () => direct?.channel.peerSpki(),
    close: () => undefined,
  };
}

function connectTo(link: SessionLink, tried: ReadonlySet<string>, last: unknown, facts: TalosErrorFacts): Connection {
  try {
    return link.connect(tried, last);
  } catch (thrown) {
    throw thrown instanceof NoEndpoint ? new TalosError("NO_ENDPOINT", facts, thrown.message, { cause: thrown.last }) : thrown;
  }
}
