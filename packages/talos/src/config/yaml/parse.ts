import { COLLECTION_STYLE, EVENT_ID, parseEvents, YAMLException, type Event } from "js-yaml";
import { continuationLines } from "./continuation-lines.ts";

/** What a text was parsed to. Places in events count in `source`, which may have more blanks than the text. */
export interface ParsedYaml {
  readonly events: readonly Event[];
  readonly source: string;
  /** Blanks that were put before a line, counted from 0. */
  readonly padOf: (line: number) => number;
}

/**
 * Events of a text, read as leniently as Go's library does where lists, maps and quoted texts go on in further lines: there blanks mean nothing, while
 * the parser wants them deeper than what they belong to. A closing bracket below its key is what people write.
 *
 * @throws YAMLException
 */
export function parseYaml(text: string, maxDepth: number): ParsedYaml {
  try {
    return { events: parseEvents(text, { maxDepth }), source: text, padOf: () => 0 };
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== "deficient indentation") throw error;
    const continued = continuationLines(text);
    const lines = text.split("\n");
    const pad = " ".repeat(deepestIndent(lines) + 1);
    const source = lines.map((line, number) => (continued.has(number) ? pad + line : line)).join("\n");
    const events = parseEvents(source, { maxDepth });
    // Nothing but what brackets and quotes hold may have moved: a key would belong to another map.
    if (movesKeys(events, source, lines, continued, pad.length)) throw error;
    return { events, source, padOf: (line) => (continued.has(line) ? pad.length : 0) };
  }
}

function deepestIndent(lines: readonly string[]): number {
  return lines.reduce((deepest, line) => Math.max(deepest, /^ */.exec(line)?.[0].length ?? 0), 0);
}

/** Whether something outside of brackets begins a line that got blanks. */
function movesKeys(
  events: readonly Event[],
  source: string,
  lines: readonly string[],
  continued: ReadonlySet<number>,
  pad: number,
): boolean {
  const begins = new Set<number>();
  let start = 0;
  lines.forEach((line, number) => {
    const length = line.length + (continued.has(number) ? pad : 0);
    if (continued.has(number)) begins.add(start + length - line.trimStart().length);
    start += length + 1;
  });
  const isFlow: boolean[] = [];
  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.POP:
        isFlow.pop();
        continue;
      case EVENT_ID.DOCUMENT:
        isFlow.push(false);
        continue;
      case EVENT_ID.ALIAS:
        if (isFlow.at(-1) === false && begins.has(event.anchorStart - 1)) return true;
        continue;
      case EVENT_ID.SCALAR: {
        const quote = /["']/.test(source[event.valueStart - 1] ?? "") ? 1 : 0;
        if (isFlow.at(-1) === false && (begins.has(event.valueStart) || begins.has(event.valueStart - quote))) return true;
        continue;
      }
      default:
        if (isFlow.at(-1) === false && begins.has(event.start)) return true;
        isFlow.push(event.style === COLLECTION_STYLE.FLOW);
    }
  }
  return false;
}
