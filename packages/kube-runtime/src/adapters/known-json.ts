import type { Path } from "./json-paths.ts";

/** JSON of an object and what it says. */
export interface KnownJson {
  /** Its JSON is at the beginning; behind it there may be room. */
  bytes: Buffer;
  view: DataView;
  length: number;
  value: object;
  /** Start and end of each value that differed once and holds no others, in order. */
  readonly bounds: number[];
  /** Where each of them stands in `value`. */
  readonly paths: Path[];
  /** Objects inside that were looked through, the whole among them: each of their keys stands there once, without spaces. */
  readonly plain: Path[];
}

/** Forgets what was found out about the bytes, since others take their place. */
export function forgetPlaces({ bounds, paths, plain }: KnownJson): void {
  bounds.length = 0;
  paths.length = 0;
  plain.length = 0;
}
