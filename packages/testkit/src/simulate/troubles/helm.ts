import { forAWhile } from "./input.ts";

/** Helm and its workers fail in every way. Those that hang go on when it is over. */
export const failHelm = forAWhile((input) => {
  input.failHelm(true);
  return () => input.failHelm(false);
});
