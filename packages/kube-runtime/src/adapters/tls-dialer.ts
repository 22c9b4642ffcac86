import { isIP } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { sameIdentity, type TlsIdentity } from "./credentials.ts";
import { keepAliveProbeMs } from "./timing.ts";

/** Calls that follow each other keep a dial alive; a peer that accepts and never shakes hands must not hold them all. */
const longestDialMs = 30_000;

/** A TLS connection on its way. */
export interface TlsDial {
  /** Connected and verified; rejects with what the network or the verification says. */
  readonly socket: Promise<TLSSocket>;
  /** Gives it up. */
  cancel(): void;
}

/** Opens TLS connections to one server. */
export interface TlsDialer {
  /** Offers HTTP/2 and HTTP/1.1. */
  dial(tls: TlsIdentity): TlsDial;
}

/** What is kept between two connections with the same credentials: certificates are parsed once, and the server need not be verified anew. */
interface Kept {
  readonly tls: TlsIdentity;
  readonly secureContext: SecureContext;
  ticket: Buffer | undefined;
}

/** Nothing is opened yet. */
export function createTlsDialer(host: string, port: number): TlsDialer {
  let kept: Kept | undefined;

  function keptFor(tls: TlsIdentity): Kept {
    if (kept === undefined || !sameIdentity(kept.tls, tls)) kept = { tls, secureContext: createSecureContext(tls), ticket: undefined };
    return kept;
  }

  function open(tls: TlsIdentity): TLSSocket {
    const mine = keptFor(tls);
    const name = tls.servername ?? (isIP(host) === 0 ? host : undefined);
    const socket = connect({
      host,
      port,
      ALPNProtocols: ["h2", "http/1.1"],
      secureContext: mine.secureContext,
      rejectUnauthorized: tls.rejectUnauthorized,
      ...(name === undefined ? {} : { servername: name }),
      ...(mine.ticket === undefined ? {} : { session: mine.ticket }),
    });
    socket.setKeepAlive(true, keepAliveProbeMs);
    socket.setNoDelay();
    socket.on("session", (ticket: Buffer) => {
      mine.ticket = ticket;
    });
    socket.on("close", (hadError: boolean) => {
      if (hadError) mine.ticket = undefined;
    });
    return socket;
  }

  return {
    dial(tls) {
      let socket: TLSSocket | undefined;
      const opened = new Promise<TLSSocket>((resolve, reject) => {
        const opening = open(tls);
        socket = opening;
        const timer = setTimeout(() => opening.destroy(failure(`no connection within ${longestDialMs} ms`, "ETIMEDOUT")), longestDialMs);
        opening.once("secureConnect", () => {
          clearTimeout(timer);
          resolve(opening);
        });
        opening.on("error", reject);
        opening.once("close", () => {
          clearTimeout(timer);
          reject(failure("the connection was given up", "ECONNRESET"));
        });
      });
      return { socket: opened, cancel: () => socket?.destroy() };
    },
  };
}

function failure(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
