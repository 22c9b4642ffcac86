import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";

/** One request and the way to answer it, whichever protocol brought it. */
export interface ServedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  /** What all requests of one connection have in common. */
  readonly connection: object;
  readonly socket: Pick<TLSSocket, "getPeerCertificate" | "authorized" | "remoteAddress" | "remotePort">;
  /** Absent when there is none. */
  readonly body: ServedBody | undefined;
  /** Answers with a whole body; the rest of the request is not waited for. */
  answer(status: number, headers: Readonly<Record<string, string>>, body: string): void;
  /** Answers 200 with a body that goes on. */
  stream(headers: Readonly<Record<string, string>>): ServedStream;
  /** Nobody is left to answer. */
  destroy(): void;
}

/** The body of a request. */
export interface ServedBody {
  readonly readable: Readable;
  /** Tells a client that waits for it (`Expect: 100-continue`) to send the body. */
  begin(): void;
  /** True when what has been read to the end is not the whole. */
  isCut(): boolean;
}

/** An answer that goes on. */
export interface ServedStream {
  readonly isOver: boolean;
  /** What the client has not taken yet. */
  readonly backlogBytes: number;
  write(text: string): void;
  end(): void;
  destroy(): void;
  onClose(listener: () => void): void;
}
