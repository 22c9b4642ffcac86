/** Messages that somebody pushes and one reader takes, until it ends or the reader's signal aborts. */
export class MessageQueue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #isEnded = false;

  constructor(signal: AbortSignal) {
    signal.addEventListener("abort", () => this.end(), { once: true });
    if (signal.aborted) this.#isEnded = true;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) yield item;
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      this.#wake = undefined;
    }
  }
}
