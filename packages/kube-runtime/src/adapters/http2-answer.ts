import { type ClientHttp2Stream, constants } from "node:http2";
import type { HttpAnswer } from "./exchange.ts";

const readingEvents = ["readable", "end", "close"] as const;

/** The answer on one stream. */
export class Http2Answer implements HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #stream: ClientHttp2Stream;
  readonly #errorOf: () => Error;

  /** @param errorOf why an answer that is not whole ended */
  constructor(stream: ClientHttp2Stream, status: number, headers: Readonly<Record<string, string>>, errorOf: () => Error) {
    this.status = status;
    this.headers = headers;
    this.#stream = stream;
    this.#errorOf = errorOf;
  }

  /**
   * By hand: the iterator of Node's streams takes an HTTP/2 stream that the server has ended for one that broke when it was ended before anybody read, and
   * leaving that iterator early ends the stream as if nothing had gone wrong.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const stream = this.#stream;
    const announced = this.headers["content-length"];
    let length = 0;
    let wake = (): void => undefined;
    const onEvent = (): void => wake();
    for (const event of readingEvents) stream.on(event, onEvent);
    try {
      for (;;) {
        const chunk = stream.destroyed ? null : (stream.read() as Buffer | null);
        if (chunk !== null) {
          length += chunk.length;
          yield chunk;
        } else if (stream.readableEnded || stream.destroyed) {
          break;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      // A stream that was reset, or whose connection broke, may have an end like any other.
      const isWhole = stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (!isWhole || (announced !== undefined && Number(announced) !== length)) throw this.#errorOf();
    } finally {
      for (const event of readingEvents) stream.off(event, onEvent);
      // Either left early, or the server has answered without reading the whole request: nothing waits for the rest.
      if (!stream.readableEnded || !stream.writableFinished) cancel(stream);
    }
  }

  discard(): void {
    this.#stream.resume();
  }

  destroy(): void {
    if (!this.#stream.readableEnded) cancel(this.#stream);
  }
}

/** Tells the server that nobody wants the rest, and forgets the stream. */
export function cancel(stream: ClientHttp2Stream): void {
  if (stream.destroyed) return;
  stream.close(constants.NGHTTP2_CANCEL);
  stream.destroy();
}
