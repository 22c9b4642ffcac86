/** A source whose failure is known behind pipes that wrap it. */
export interface Watched {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly failure: () => { readonly error: unknown } | undefined;
}

export function watched(source: AsyncIterable<Uint8Array>): Watched {
  let failure: { readonly error: unknown } | undefined;
  return {
    chunks: {
      async *[Symbol.asyncIterator]() {
        try {
          yield* source;
        } catch (error) {
          failure = { error };
          throw error;
        }
      },
    },
    failure: () => failure,
  };
}
