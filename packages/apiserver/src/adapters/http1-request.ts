import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { ServedRequest, ServedStream } from "./served-request.ts";

/** A request of HTTP/1.1. */
export function http1Request(request: IncomingMessage, response: ServerResponse): ServedRequest {
  return {
    method: request.method ?? "GET",
    target: request.url ?? "/",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    connection: request.socket,
    socket: request.socket as TLSSocket,
    // Its parser ends no body before the announced end.
    body: { readable: request, isCut: () => false },
    answer(status, headers, body) {
      response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) });
      response.end(body);
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
