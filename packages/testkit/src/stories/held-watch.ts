import type { KubeTransport, KubeWatchEvent } from "@talos-operator/ports";

/** Watches that tell nothing while they are held, and everything afterwards. */
export class HeldWatch {
  readonly #pathEnd: string;
  #held: PromiseWithResolvers<void> | undefined;

  /** @param pathEnd of what they watch, such as `/talosmachines`; an empty one for all */
  constructor(pathEnd: string) {
    this.#pathEnd = pathEnd;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  hold(): void {
    this.#held = Promise.withResolvers();
  }

  /** To be called before an assertion that may fail: a story that ends while its watches are held waits for ever. */
  goOn(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  kube(real: KubeTransport): KubeTransport {
    return {
      ...real,
      watch: async (request, options) => {
        const answer = await real.watch(request, options);
        return request.path.endsWith(this.#pathEnd) ? { ...answer, events: this.#lagging(answer.events) } : answer;
      },
    };
  }

  async *#lagging(events: AsyncIterable<KubeWatchEvent>): AsyncIterable<KubeWatchEvent> {
    for await (const event of events) {
      await this.#held?.promise;
      yield event;
    }
  }
}
