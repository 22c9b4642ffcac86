import type { CertificateDetails } from "@talos-operator/adapters";
import type { Keys } from "@talos-operator/ports";
import type { Generation } from "../config/schema/notation.ts";

/** One recorded pair of input and answer of the genuine libraries. */
export interface GoldenCase {
  readonly id: string;
  /** Which library answered: `v1.13.9`, `main-...`. */
  readonly source: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
  /** What the newer library answers where it differs. */
  readonly expected_newer?: Readonly<Record<string, unknown>>;
}

/** What a case is run with. */
export interface GoldenContext {
  /** Content of a file that a case refers to, by its path inside the folder of its kind. */
  readonly readFile: (path: string) => string;
  readonly keys: Keys;
  readonly inspect: (certificate: string) => Promise<CertificateDetails>;
  /** Milliseconds since the epoch at which generated certificates start. */
  readonly now: number;
}

/** What came of one case. */
export type GoldenOutcome =
  | { readonly status: "passed" }
  | { readonly status: "failed"; readonly difference: string }
  /** Nothing in this version answers such a case. */
  | { readonly status: "not-run"; readonly reason: string };

/** How the cases of one kind are run. */
export type GoldenRunner = (golden: GoldenCase, context: GoldenContext) => GoldenOutcome | Promise<GoldenOutcome>;

export const passed: GoldenOutcome = { status: "passed" };

export function failed(difference: string): GoldenOutcome {
  return { status: "failed", difference };
}

export function notRun(reason: string): GoldenOutcome {
  return { status: "not-run", reason };
}

/** The text of a value that is given in place or as `{ "file": path }`. */
export function textOf(value: unknown, { readFile }: Pick<GoldenContext, "readFile">): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && "file" in value) return readFile(String(value.file));
  throw new Error(`a golden value is neither text nor a file: ${JSON.stringify(value)}`);
}

/** The rules by which a case is answered, and the answers that count: of both libraries where the newer one differs. */
export function answersOf(
  golden: GoldenCase,
): readonly { readonly generation: Generation; readonly expected: Readonly<Record<string, unknown>> }[] {
  const generation = /^v1\.(?:\d|1[0-3])\./.test(golden.source) ? "1.13" : "1.14";
  return [
    { generation, expected: golden.expected },
    ...(golden.expected_newer === undefined ? [] : [{ generation: "1.14" as const, expected: golden.expected_newer }]),
  ];
}

/** Compares texts byte by byte; the difference names the first line that differs. */
export function compareText(got: string, want: string, what: string): GoldenOutcome {
  if (got === want) return passed;
  const a = got.split("\n");
  const b = want.split("\n");
  let line = 0;
  while (a[line] === b[line]) line++;
  return failed(`${what}, line ${line + 1}: got ${JSON.stringify(a[line])?.slice(0, 120)}, want ${JSON.stringify(b[line])?.slice(0, 120)}`);
}

/**
 * Compares the texts of refusals. Talos's own must be equal. Of those of the YAML and JSON libraries about values the lines must be the same;
 * of those about syntax ours must lie where theirs says that the trouble begins and is noticed.
 */
export function compareRefusals(got: string, want: string): GoldenOutcome {
  if (got === want) return passed;
  const difference = `got ${JSON.stringify(got.slice(0, 300))}, want ${JSON.stringify(want.slice(0, 300))}`;
  if (/construct errors|JSON input/.test(want)) return linesNamedIn(got).join() === linesNamedIn(want).join() ? passed : failed(difference);
  if (!/yaml: |go-yaml/.test(want) || /construct errors/.test(got)) return failed(difference);
  const lines = linesNamedIn(want);
  // The parser of the older library counts lines from 0, its scanner from 1.
  const last = Math.max(...lines) + (/yaml: while parsing/.test(want) ? 1 : 0);
  const ours = linesNamedIn(got);
  return lines.length === 0 || (ours.length > 0 && ours.every((line) => line >= Math.min(...lines) && line <= last))
    ? passed
    : failed(difference);
}

function linesNamedIn(text: string): readonly number[] {
  return [...text.matchAll(/(?:line |\bL)(\d+)/g)].map((match) => Number(match[1]));
}

/** The first outcome that is not a pass. */
export function worstOf(outcomes: readonly GoldenOutcome[]): GoldenOutcome {
  return outcomes.find(({ status }) => status === "failed") ?? outcomes.find(({ status }) => status === "not-run") ?? passed;
}
