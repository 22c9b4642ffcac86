import { ConfigError } from "../config/errors.ts";
import { mergeTalosconfigs } from "../talosconfig/merge.ts";
import { readTalosconfig } from "../talosconfig/parse.ts";
import { writeTalosconfig } from "../talosconfig/print.ts";
import {
  answersOf,
  compareRefusals,
  compareText,
  failed,
  textOf,
  worstOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

/** Parses, merges and prints client configurations. */
export function runTalosconfig(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const text = textOf(golden.input["talosconfig"], context);
  const added = golden.input["merge"];
  return worstOf(
    answersOf(golden).map(({ generation, expected }) => {
      const refusal = expected["error"] ?? expected["merge_error"];
      try {
        const base = readTalosconfig(text, generation);
        const { talosconfig, renames } =
          added === undefined
            ? { talosconfig: base, renames: [] }
            : mergeTalosconfigs(base, readTalosconfig(textOf(added, context), generation));
        if (refusal !== undefined) return failed("got a talosconfig, want a refusal");
        const names = renames.map(({ from, to }) => `${JSON.stringify(from)} -> ${JSON.stringify(to)}`);
        const wanted = (expected["renames"] ?? []) as readonly string[];
        return worstOf([
          compareText(writeTalosconfig(talosconfig, generation), textOf(expected["output"], context), "output"),
          compareText(names.toSorted(byText).join("\n"), [...wanted].toSorted(byText).join("\n"), "renames"),
        ]);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return typeof refusal === "string" ? compareRefusals(error.detail, refusal) : failed(error.message);
      }
    }),
  );
}

/** The genuine tool walks a map: its renames come in any order. */
function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
