import type { IncomingMessage, ServerResponse } from "node:http";
import { S3Error } from "../../object-storage/s3-error.ts";

/** What a client may still send of a body that nobody wants, so that it comes to read why; then its connection ends. */
const LARGEST_REST = 64 * 1024 ** 2;
const LONGEST_REST_MS = 5_000;

/**
 * The body of a request. A client that waits for leave (`Expect: 100-continue`) gets it with the first read; one that stops sending is refused
 * (`RequestTimeout`) rather than waited for.
 */
export function bodyOf(request: IncomingMessage, response: ServerResponse, isWaiting: boolean): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      if (isWaiting) response.writeContinue();
      const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
      let fail: (reason: Error) => void = () => undefined;
      response.once("timeout", () => fail(new S3Error("RequestTimeout")));
      for (;;) {
        // What ran out while nobody waited for the client was our own time.
        request.socket.setTimeout(request.socket.timeout ?? 0);
        const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          fail = reject;
          pieces.next().then(resolve, reject);
        });
        if (next.done === true) return;
        yield next.value;
      }
    },
  };
}

/** Reads away what is left of a body once the answer has been given. A connection that is cut instead may take the answer with it. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let rest = 0;
  const cut = (): void => void request.socket.destroy();
  const timer = setTimeout(cut, LONGEST_REST_MS);
  timer.unref();
  request.once("close", () => clearTimeout(timer));
  request.once("end", () => clearTimeout(timer));
  request.on("data", (bytes: Uint8Array) => {
    rest += bytes.length;
    if (rest > LARGEST_REST) cut();
  });
}
