import { ConfigError } from "../config/errors.ts";
import { printDocuments } from "../config/document/print.ts";
import { applyPatches, loadConfig, loadPatch, type LoadedPatch } from "../config/patch/patch.ts";
import type { Generation } from "../config/schema/notation.ts";
import {
  answersOf,
  compareRefusals,
  compareText,
  failed,
  passed,
  textOf,
  worstOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

/** A patch that deletes an absent document: the older library leaves an empty document behind, which we do not follow. */
const knownSlips: ReadonlySet<string> = new Set(["delete-document-absent"]);

/** Loads and applies the patches of a case. */
export function runPatches(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const answers = answersOf(golden).filter(({ generation }) => !(generation === "1.13" && knownSlips.has(golden.id)));
  return worstOf(answers.map(({ generation, expected }) => runAnswer(golden, context, generation, expected)));
}

function runAnswer(
  golden: GoldenCase,
  context: GoldenContext,
  generation: Generation,
  expected: Readonly<Record<string, unknown>>,
): GoldenOutcome {
  const got = attempt(golden, context, generation);
  if (got.stage !== expected["stage"])
    return failed(`got stage ${got.stage} (${got.error ?? "no error"}), want ${String(expected["stage"])}`);
  if (got.stage !== "ok") return compareRefusals(got.error, String(expected["error"]));
  const output = compareText(got.output, textOf(expected["output"], context), "output");
  if (output.status !== "passed") return output;
  const reloaded = reload(got.output, generation);
  if (expected["reload_error"] !== undefined)
    return "error" in reloaded ? compareRefusals(reloaded.error, expected["reload_error"] as string) : failed("the output loads again");
  if ("error" in reloaded) return failed(`the output does not load again: ${reloaded.error}`);
  return expected["canonical"] === undefined ? passed : compareText(reloaded.text, textOf(expected["canonical"], context), "canonical");
}

type Attempt =
  | { readonly stage: "ok"; readonly output: string; readonly error?: undefined }
  | { readonly stage: "load_patch" | "apply"; readonly error: string };

function attempt(golden: GoldenCase, context: GoldenContext, generation: Generation): Attempt {
  const patches: LoadedPatch[] = [];
  try {
    for (const patch of golden.input["patches"] as readonly unknown[]) patches.push(loadPatch(textOf(patch, context), generation));
  } catch (error) {
    return { stage: "load_patch", error: detailOf(error) };
  }
  try {
    return { stage: "ok", output: applyPatches(textOf(golden.input["config"], context), patches, generation) };
  } catch (error) {
    return { stage: "apply", error: detailOf(error) };
  }
}

function reload(text: string, generation: Generation): { readonly text: string } | { readonly error: string } {
  try {
    return { text: printDocuments(loadConfig(text, generation), generation) };
  } catch (error) {
    return { error: detailOf(error) };
  }
}

function detailOf(error: unknown): string {
  if (!(error instanceof ConfigError)) throw error;
  return error.detail;
}
