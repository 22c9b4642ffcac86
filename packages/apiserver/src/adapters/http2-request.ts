import { constants, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { ServedBody, ServedRequest, ServedStream } from "./served-request.ts";

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS, NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;

/**
 * A request of HTTP/2.
 *
 * @param requestTimeoutMs for the body; then 408
 */
export function http2Request(
  session: ServerHttp2Session,
  stream: ServerHttp2Stream,
  { headers, rawHeaders }: { readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] },
  requestTimeoutMs: number,
): ServedRequest {
  // A stream that breaks closes, and who waits for more of it hears that.
  stream.on("error", () => undefined);
  return {
    method: String(headers[HTTP2_HEADER_METHOD] ?? "GET"),
    target: String(headers[HTTP2_HEADER_PATH] ?? "/"),
    headers,
    rawHeaders,
    connection: session,
    socket: session.socket as TLSSocket,
    body: stream.endAfterHeaders ? undefined : bodyOf(stream, headers.expect === "100-continue", requestTimeoutMs),
    answer(status, answered, body) {
      respond(stream, status, { ...answered, "content-length": String(Buffer.byteLength(body)) }, body);
    },
    stream(answered) {
      stream.respond({ ...answered, [HTTP2_HEADER_STATUS]: 200 });
      return streamOf(stream);
    },
    destroy: () => cancel(stream),
  };
}

function respond(stream: ServerHttp2Stream, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond({ ...headers, [HTTP2_HEADER_STATUS]: status });
  if (stream.writableEnded) return; // HEAD
  if (!stream.readableEnded && !stream.endAfterHeaders) {
    // The client need not send what nobody reads; it learns so behind the whole answer.
    stream.once("finish", () => {
      if (!stream.readableEnded) stream.close(NGHTTP2_NO_ERROR);
    });
  }
  stream.end(body);
}

function bodyOf(stream: ServerHttp2Stream, waits: boolean, requestTimeoutMs: number): ServedBody {
  const timer = setTimeout(() => respond(stream, 408, {}, ""), requestTimeoutMs);
  for (const event of ["end", "close"]) stream.once(event, () => clearTimeout(timer));
  // A reset without an error ends a body for its reader as if it were whole.
  return {
    readable: stream,
    begin: () => {
      if (waits && !stream.destroyed && !stream.headersSent) stream.additionalHeaders({ [HTTP2_HEADER_STATUS]: 100 });
    },
    isCut: () => stream.closed || stream.aborted,
  };
}

function streamOf(stream: ServerHttp2Stream): ServedStream {
  return {
    get isOver() {
      return stream.destroyed || stream.closed || stream.writableEnded;
    },
    get backlogBytes() {
      return stream.writableLength;
    },
    write: (text) => {
      if (!stream.destroyed && !stream.writableEnded) stream.write(text);
    },
    end: () => {
      if (!stream.destroyed) stream.end();
    },
    destroy: () => cancel(stream),
    onClose: (listener) => void stream.on("close", listener),
  };
}

function cancel(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.close(NGHTTP2_CANCEL);
  stream.destroy();
}
