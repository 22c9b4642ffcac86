import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Clock, Logger } from "@talos-operator/ports";

/** A collector that is away is said so often. Milliseconds. */
const SAID_EVERY_MS = 60_000;

/** The same exporter; what it cannot send is told in the log, at most once a minute, with the number of spans that were lost since. */
export function quietExporter(
  exporter: SpanExporter,
  { clock, log, collector }: { readonly clock: Clock; readonly log: Logger; readonly collector: string },
): SpanExporter {
  let saidAt: number | undefined;
  let lost = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) {
          lost += spans.length;
          const now = clock.now();
          if (saidAt === undefined || now - saidAt >= SAID_EVERY_MS || now < saidAt) {
            log.warn({ collector, lost, reason: reasonOf(result.error) }, "Traces could not be sent and are lost");
            saidAt = now;
            lost = 0;
          }
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** A code where there is one: what a server answers is its own matter and not for the log. */
function reasonOf(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" || typeof code === "number" ? String(code) : error.message;
}
