/** What is made when it is first asked for, and never again. It must not ask for itself. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** What is made of an object, or of a list, when it is first asked for, and goes with it. Only of what is replaced and never changed. */
export function onceFor<O extends object, T>(make: (of: O) => T): (of: O) => T {
  const made = new WeakMap<O, { readonly value: T }>();
  return (of) => {
    const known = made.get(of) ?? { value: make(of) };
    made.set(of, known);
    return known.value;
  };
}
