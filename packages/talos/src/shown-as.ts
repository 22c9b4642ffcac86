/**
 * Gives an object that holds secrets another face: `JSON.stringify`, `console.log`, `util.inspect` and loggers see `shown`, code sees the
 * object. The face belongs to this object alone: every object inside that holds a secret needs its own, and so does a copy made by spreading.
 *
 * @returns the same object
 */
export function shownAs<T extends object>(value: T, shown: unknown): T {
  const face = { enumerable: false, value: (): unknown => shown };
  return Object.defineProperties(value, { toJSON: face, [Symbol.for("nodejs.util.inspect.custom")]: face });
}
