import type { KubeWatchEvent } from "@talos-operator/ports";
import { brokenConnection } from "./scripted-transport.ts";

/** Events that one side pushes and the other iterates. */
export interface EventStream {
  readonly events: AsyncIterable<KubeWatchEvent>;
  push(event: KubeWatchEvent): void;
  end(): void;
  fail(error: Error): void;
}

/** An open stream; the signal breaks it, and `onLeave` is called when the reader leaves. */
export function createEventStream(signal: AbortSignal | undefined, onLeave: () => void = () => undefined): EventStream {
  const waiting: KubeWatchEvent[] = [];
  let last: { readonly error: Error | undefined } | undefined;
  let wake: (() => void) | undefined;
  const finish = (error: Error | undefined): void => {
    last ??= { error };
    wake?.();
  };
  const onAbort = (): void => finish(brokenConnection("aborted"));
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });

  async function* read(): AsyncGenerator<KubeWatchEvent> {
    try {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          yield next;
          continue;
        }
        if (last?.error !== undefined) throw last.error;
        if (last !== undefined) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      onLeave();
    }
  }

  return {
    events: read(),
    push(event) {
      if (last !== undefined) return;
      waiting.push(event);
      wake?.();
    },
    end: () => finish(undefined),
    fail: finish,
  };
}
