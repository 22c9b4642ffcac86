import { ConfigError } from "../config/errors.ts";
import { validateMachineConfig, type RuntimeMode } from "../config/validate/validate.ts";
import {
  answersOf,
  compareRefusals,
  failed,
  passed,
  textOf,
  worstOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

type Expected = Readonly<
  Record<RuntimeMode, Readonly<Record<"lenient" | "strict", { readonly error: string | null; readonly warnings: readonly string[] }>>>
>;

/** Validates the config of a case in every mode. */
export function runValidate(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const text = textOf(golden.input["config"], context);
  return worstOf(
    answersOf(golden).flatMap(({ generation, expected }) =>
      (["metal", "cloud", "container"] as const).flatMap((mode) =>
        (["lenient", "strict"] as const).map((strictness) => {
          const loadError = expected["load_error"];
          try {
            const { report, warnings } = validateMachineConfig(text, { mode, strict: strictness === "strict", contract: generation });
            if (typeof loadError === "string") return failed(`got a verdict, want the refusal ${JSON.stringify(loadError.slice(0, 200))}`);
            const want = (expected as unknown as Expected)[mode][strictness];
            const isSame = (report ?? null) === want.error && warnings.join("\n") === want.warnings.join("\n");
            return isSame
              ? passed
              : failed(
                  `${mode} ${strictness}: got ${JSON.stringify({ report, warnings }).slice(0, 400)}, want ${JSON.stringify(want).slice(0, 400)}`,
                );
          } catch (error) {
            if (!(error instanceof ConfigError)) throw error;
            return typeof loadError === "string" ? compareRefusals(error.detail, loadError) : failed(error.message);
          }
        }),
      ),
    ),
  );
}
