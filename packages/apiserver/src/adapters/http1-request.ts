import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { ServedRequest, ServedStream } from "./served-request.ts";

/** How long, and how much, is read of a body that nobody wanted: a client that is cut while it sends may never see the answer. */
const lingerMs = 500;
const lingerBytes = 256 * 1024;

/**
 * A request of HTTP/1.1.
 *
 * @param waits for a word before it sends its body
 */
export function http1Request(request: IncomingMessage, response: ServerResponse, waits = false): ServedRequest {
  const length = request.headers["transfer-encoding"] === undefined ? Number(request.headers["content-length"] ?? 0) : Infinity;
  const hasBody = length > 0;
  let hasBegun = false;
  return {
    method: request.method ?? "GET",
    target: request.url ?? "/",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    connection: request.socket,
    socket: request.socket as TLSSocket,
    // Its parser ends no body before the announced end.
    body: hasBody
      ? {
          readable: request,
          begin: () => {
            hasBegun = true;
            if (waits) response.writeContinue();
          },
          isCut: () => false,
        }
      : undefined,
    answer(status, headers, body) {
      // Node reads and forgets what is left of a short one. Who waits may send its body or not: nobody knows where the next request begins.
      const isUnread = hasBody && !hasBegun && (waits || length > lingerBytes);
      response.writeHead(status, {
        ...headers,
        "content-length": String(Buffer.byteLength(body)),
        ...(isUnread ? { connection: "close" } : {}),
      });
      if (isUnread) endAfterBody(request, response, body);
      else response.end(body);
    },
    stream(headers) {
      response.writeHead(200, headers);
      response.flushHeaders();
      response.socket?.setNoDelay(true);
      return streamOf(response);
    },
    destroy: () => void response.destroy(),
  };
}

/** Sends the whole answer, then lets the client see it before the connection is cut. */
function endAfterBody(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.write(body);
  let left = lingerBytes;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  request.once("end", end);
  request.once("close", end);
}

function streamOf(response: ServerResponse): ServedStream {
  return {
    get isOver() {
      return response.destroyed || response.writableEnded;
    },
    get backlogBytes() {
      return response.writableLength;
    },
    write: (text) => void response.write(text),
    end: () => void response.end(),
    destroy: () => void response.destroy(),
    onClose: (listener) => void response.on("close", listener),
  };
}
