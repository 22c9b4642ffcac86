import { ConfigError } from "../config/errors.ts";
import { mergeTalosconfigs } from "../talosconfig/merge.ts";
import { parseTalosconfig } from "../talosconfig/parse.ts";
import { printTalosconfig } from "../talosconfig/print.ts";
import { compareText, failed, passed, textOf, worstOf, type GoldenCase, type GoldenContext, type GoldenOutcome } from "./case.ts";

/** Parses, merges and prints client configurations. */
export function runTalosconfig(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  try {
    const base = parseTalosconfig(textOf(golden.input["talosconfig"], context));
    const added = golden.input["merge"];
    const { talosconfig, renames } =
      added === undefined ? { talosconfig: base, renames: [] } : mergeTalosconfigs(base, parseTalosconfig(textOf(added, context)));
    if (golden.expected["error"] !== undefined) return failed("got a talosconfig, want a refusal");
    const names = renames.map(({ from, to }) => `${JSON.stringify(from)} -> ${JSON.stringify(to)}`);
    const wanted = (golden.expected["renames"] ?? []) as readonly string[];
    return worstOf([
      compareText(printTalosconfig(talosconfig), textOf(golden.expected["output"], context), "output"),
      compareText(names.join("\n"), wanted.join("\n"), "renames"),
    ]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return golden.expected["error"] === undefined ? failed(error.message) : passed;
  }
}
