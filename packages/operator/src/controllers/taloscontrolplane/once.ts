/** What is made when it is first asked for, and never again. It must not ask for itself. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
