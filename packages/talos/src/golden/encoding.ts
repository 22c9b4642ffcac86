import { loadDocuments } from "../config/document/load.ts";
import { printDocuments } from "../config/document/print.ts";
import { ConfigError } from "../config/errors.ts";
import { redactMachineConfig } from "../config/redact.ts";
import { patchMachineConfig } from "../config/patch/patch.ts";
import {
  answersOf,
  compareText,
  failed,
  passed,
  textOf,
  worstOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

/** Decodes a document and prints it canonically. */
export function runEncoding(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const input = textOf(golden.input["config"], context);
  return worstOf(
    answersOf(golden).flatMap(({ generation, expected }) => {
      try {
        const canonical = expected["canonical"];
        const outcomes = [
          canonical === undefined
            ? passed
            : compareText(printDocuments(loadDocuments(input, generation), generation), textOf(canonical, context), "canonical"),
        ];
        const redacted = expected["redacted"] ?? canonical;
        if (redacted !== undefined)
          outcomes.push(compareText(redactMachineConfig(input, { contract: generation }), textOf(redacted, context), "redacted"));
        if (expected["bytes_unmodified_equal_input"] === true)
          outcomes.push(compareText(patchMachineConfig(input, []), input, "unmodified"));
        return outcomes;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return failed(error.message);
      }
    }),
  );
}
