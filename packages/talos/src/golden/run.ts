import { failed, type GoldenCase, type GoldenContext, type GoldenOutcome, type GoldenRunner } from "./case.ts";
import { runEncoding } from "./encoding.ts";
import { runGenconfig } from "./genconfig.ts";
import { runPatches } from "./patches.ts";
import { runPki } from "./pki.ts";
import { runSchematic } from "./schematic.ts";
import { runSecrets } from "./secrets.ts";
import { runTalosconfig } from "./talosconfig.ts";
import { runValidate } from "./validate.ts";
import { runImages, runKubernetes, runVersionContract } from "./versions.ts";

/** The kinds of recorded cases that this version answers. */
export const goldenRunners: ReadonlyMap<string, GoldenRunner> = new Map<string, GoldenRunner>([
  ["encoding", runEncoding],
  ["genconfig", runGenconfig],
  ["images", runImages],
  ["kubernetes", runKubernetes],
  ["patches", runPatches],
  ["pki", runPki],
  ["schematic", runSchematic],
  ["secrets", runSecrets],
  ["talosconfig", runTalosconfig],
  ["validate", runValidate],
  ["version-contract", runVersionContract],
]);

/** What came of the cases of one kind. */
export interface GoldenReport {
  readonly kind: string;
  readonly passed: number;
  readonly failed: number;
  /** Cases that nothing in this version answers. */
  readonly notRun: number;
  /** The first of those that failed, at most ten. */
  readonly differences: readonly { readonly id: string; readonly difference: string }[];
}

/** Where the cases of a kind come from; `index.json` lists them. */
export interface GoldenSource extends GoldenContext {
  readonly kind: string;
}

/** Runs all recorded cases of one kind, in their order. */
export async function runGoldens(source: GoldenSource): Promise<GoldenReport> {
  const results: { readonly id: string; readonly outcome: GoldenOutcome }[] = [];
  for (const golden of casesOf(source)) results.push({ id: golden.id, outcome: await runGolden(golden, source) });
  const failures = results.flatMap(({ id, outcome }) => (outcome.status === "failed" ? [{ id, difference: outcome.difference }] : []));
  const count = (status: GoldenOutcome["status"]): number => results.filter(({ outcome }) => outcome.status === status).length;
  return {
    kind: source.kind,
    passed: count("passed"),
    failed: failures.length,
    notRun: count("not-run"),
    differences: failures.slice(0, 10),
  };
}

/** The cases of a kind. */
export function casesOf({ readFile }: Pick<GoldenSource, "readFile">): readonly GoldenCase[] {
  return (JSON.parse(readFile("index.json")) as { cases: readonly GoldenCase[] }).cases;
}

/** Runs one case; an error that is not a refusal is a failure. */
export async function runGolden(golden: GoldenCase, source: GoldenSource): Promise<GoldenOutcome> {
  const run = goldenRunners.get(source.kind);
  if (run === undefined) return { status: "not-run", reason: `no code for ${source.kind}` };
  try {
    return await run(golden, source);
  } catch (error) {
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
