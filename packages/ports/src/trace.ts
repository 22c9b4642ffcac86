/** Words and figures about a span. Keys, tokens, bundles and machine configs never enter them; `undefined` is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Where it is told what is done, for how long, and as a part of what. The span that is the parent is handed along, never looked up: without
 * state of the process, so that a simulation is repeatable.
 */
export interface Tracer {
  /**
   * Does `work` inside a span and gives back what it gives; a failure is noted in the span and thrown on, the same one.
   * `outcome` makes attributes of what came of it.
   */
  inSpan<T>(
    name: string,
    attributes: SpanAttributes,
    work: (span: Span) => Promise<T>,
    outcome?: (result: T) => SpanAttributes,
  ): Promise<T>;
}

/** A span that goes on. Spans begun on it are its children. */
export interface Span extends Tracer {
  set(attributes: SpanAttributes): void;
}
