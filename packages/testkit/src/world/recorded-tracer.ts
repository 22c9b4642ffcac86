import type { Span, SpanAttributes, Tracer } from "@talos-operator/ports";

/** A span that was told of. */
export interface RecordedSpan {
  readonly name: string;
  readonly parent: RecordedSpan | undefined;
  attributes: SpanAttributes;
  /** Text of what ended it. */
  failure: string | undefined;
}

/** Keeps what it is told, in the order in which spans began. */
export function createRecordedTracer(): { readonly tracer: Tracer; readonly spans: readonly RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  const below = (parent: RecordedSpan | undefined): Tracer => ({
    async inSpan(name, attributes, work, outcome) {
      const recorded: RecordedSpan = { name, parent, attributes, failure: undefined };
      const add = (more: SpanAttributes): void => {
        recorded.attributes = { ...recorded.attributes, ...more };
      };
      spans.push(recorded);
      const span: Span = { ...below(recorded), set: add };
      try {
        const result = await work(span);
        if (outcome !== undefined) add(outcome(result));
        return result;
      } catch (thrown) {
        recorded.failure = String(thrown);
        throw thrown;
      }
    },
  });
  return { tracer: below(undefined), spans };
}
