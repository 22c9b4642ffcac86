import { ConfigError } from "../config/errors.ts";
import { communityRefusal, parseSchematic } from "../schematic/parse.ts";
import { printSchematic, schematicId } from "../schematic/print.ts";
import { compareRefusals, compareText, failed, textOf, worstOf, type GoldenCase, type GoldenContext, type GoldenOutcome } from "./case.ts";

/** Reads schematics, prints them canonically and gives their ids. */
export function runSchematic(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const { canonical, id, error: refusal, validate_error: community } = golden.expected;
  try {
    const schematic = parseSchematic(textOf(golden.input["schematic"], context));
    if (typeof refusal === "string") return failed(`got ${schematicId(schematic)}, want ${JSON.stringify(refusal)}`);
    return worstOf([
      compareText(printSchematic(schematic), textOf(canonical, context), "canonical"),
      compareText(schematicId(schematic), String(id), "id"),
      compareText(communityRefusal(schematic) ?? "", typeof community === "string" ? community : "", "refusal of the community edition"),
    ]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return typeof refusal === "string" ? compareRefusals(error.detail, refusal) : failed(error.message);
  }
}
