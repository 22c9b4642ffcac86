/** Every `count`-th of a list, from the `index`-th. */
export interface Slice {
  readonly index: number;
  readonly count: number;
}

/** Reads `I/N` as people type it; undefined when the text is not that. */
export function readSlice(text: string): Slice | undefined {
  const [, index = "", count = ""] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  return count === "" || Number(index) >= Number(count) ? undefined : { index: Number(index), count: Number(count) };
}
