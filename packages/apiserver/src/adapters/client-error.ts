import type { Duplex } from "node:stream";

const statusLines: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** How much and how long is read and thrown away behind an answer to what cannot be read: closing at once would take the answer along. */
const drainBytes = 8 * 1024 * 1024;
const drainMs = 2000;

/** Answers what is no HTTP request, or none that is taken, and closes. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (socket.destroyed || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const line = statusLines[error.code ?? ""] ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  // What comes now would go to the parser again.
  socket.removeAllListeners("data");
  let drained = 0;
  socket.on("data", (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > drainBytes) socket.destroy();
  });
  const timer = setTimeout(() => socket.destroy(), drainMs);
  socket.on("error", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
}
