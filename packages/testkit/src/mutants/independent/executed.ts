import type { IndependentFault } from "./fault.ts";

/** What V8 writes of one process with `NODE_V8_COVERAGE`, as far as it is read. */
export interface Coverage {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: readonly CoverageRange[] }[] }[];
}

interface CoverageRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Where a fault changes its file: the first and the last character that differ, and where its text begins. */
export interface FaultPlace {
  readonly name: string;
  readonly file: string;
  readonly offsets: readonly number[];
}

export function placeOf(fault: IndependentFault, source: string): FaultPlace | undefined {
  const begin = source.indexOf(fault.was);
  if (begin < 0) return undefined;
  const { was, is } = fault;
  const shorter = Math.min(was.length, is.length);
  let head = 0;
  while (head < shorter && was[head] === is[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  return {
    name: fault.name,
    file: fault.file,
    offsets: [begin, begin + Math.min(head, was.length - 1), begin + Math.max(0, was.length - tail - 1)],
  };
}

/** Names of faults whose text the process ran. Stripping types leaves every offset as it is in the source. */
export function executedIn(coverage: Coverage, places: readonly FaultPlace[]): readonly string[] {
  return coverage.result.flatMap(({ url, functions }) =>
    places
      .filter(({ file, offsets }) => url.endsWith(`/${file}`) && offsets.some((offset) => countAt(functions, offset) > 0))
      .map(({ name }) => name),
  );
}

/** The innermost range tells how often. */
function countAt(functions: Coverage["result"][number]["functions"], offset: number): number {
  const around = functions
    .flatMap(({ ranges }) => ranges)
    .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset);
  const inner = Math.min(...around.map(sizeOf));
  return around.findLast((range) => sizeOf(range) === inner)?.count ?? 0;
}

function sizeOf({ startOffset, endOffset }: CoverageRange): number {
  return endOffset - startOffset;
}
