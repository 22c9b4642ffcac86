import { sameIdentity, type TlsIdentity } from "./credentials.ts";
import { abortError, type HttpExchange } from "./exchange.ts";
import { createHttp1Exchange } from "./http1-exchange.ts";
import { defaultHttp2Timing, Http2Connection, type Http2Timing } from "./http2-connection.ts";
import { createTlsDialer, type TlsDial } from "./tls-dialer.ts";

/** Where to. */
export interface NegotiatedTarget {
  readonly host: string;
  readonly port: number | undefined;
  /** `host:port` as the server is to be called. */
  readonly authority: string;
}

/** A connection on its way and how many calls wait for it. */
interface PendingDial {
  readonly tls: TlsIdentity;
  readonly dial: TlsDial;
  readonly done: Promise<void>;
  waiting: number;
}

/**
 * HTTPS in the protocol that the server chooses when a connection is opened (ALPN): all calls with the same credentials share one HTTP/2 connection, or
 * they take HTTP/1.1 connections of a pool. A choice of HTTP/1.1 holds while a connection of it is open; then the server is asked again.
 *
 * An HTTP/2 connection that has all the streams it may have gets another beside it, so that watches never keep a request waiting. With new credentials
 * new streams go to a new connection and the old one ends with its last stream.
 */
export function createNegotiatedExchange(target: NegotiatedTarget, timing: Http2Timing = defaultHttp2Timing): HttpExchange {
  const http1 = createHttp1Exchange({ isTls: true, host: target.host, port: target.port, proxyUrl: undefined });
  const dialer = createTlsDialer(target.host, target.port ?? 443);
  const connections = new Set<Http2Connection>();
  const dials = new Set<PendingDial>();
  let isClosed = false;

  function connectionFor(tls: TlsIdentity): Http2Connection | undefined {
    let found: Http2Connection | undefined;
    for (const connection of connections) {
      if (!sameIdentity(connection.tls, tls)) connection.retire();
      else if (found === undefined && connection.hasRoom) found = connection;
    }
    return found;
  }

  function startDial(tls: TlsIdentity): PendingDial {
    const dial = dialer.dial(tls);
    const pending: PendingDial = { tls, dial, waiting: 0, done: dial.socket.then((socket) => take(socket, tls)) };
    dials.add(pending);
    pending.done.finally(() => dials.delete(pending)).catch(() => undefined); // whoever waits gets the error
    return pending;
  }

  function take(socket: Awaited<TlsDial["socket"]>, tls: TlsIdentity): void {
    if (isClosed) {
      socket.destroy();
    } else if (socket.alpnProtocol === "h2") {
      const connection = new Http2Connection(socket, {
        tls,
        authority: target.authority,
        timing,
        onGone: () => connections.delete(connection),
      });
      connections.add(connection);
    } else {
      http1.adopt(socket, tls);
    }
  }

  /** Waits for a connection, with others that want the same. */
  async function connect(tls: TlsIdentity, signal: AbortSignal): Promise<void> {
    const pending = [...dials].find((one) => sameIdentity(one.tls, tls)) ?? startDial(tls);
    pending.waiting += 1;
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(abortError(signal));
    });
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([pending.done, aborted]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      pending.waiting -= 1;
      // Without anybody who waits, a peer that never answers would be waited for by whoever comes next.
      if (pending.waiting === 0 && dials.delete(pending)) pending.dial.cancel();
    }
  }

  return {
    async open(request, tls) {
      for (;;) {
        if (request.signal.aborted) throw abortError(request.signal);
        if (http1.connections > 0) return http1.open(request, tls);
        const connection = connectionFor(tls);
        if (connection !== undefined) return connection.open(request);
        await connect(tls, request.signal);
      }
    },
    close() {
      isClosed = true;
      for (const { dial } of dials) dial.cancel();
      for (const connection of connections) connection.destroy();
      http1.close();
    },
  };
}
