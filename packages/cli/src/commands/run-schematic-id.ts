import { communityRefusal, parseSchematic, schematicId } from "@talos-operator/talos";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { readInput } from "../files/input-files.ts";

export async function runSchematicId(flags: FlagValues, { stdout, stderr }: CommandContext): Promise<void> {
  const schematic = parseSchematic(readInput(requiredString(flags, "schematic-file")));
  const refusal = communityRefusal(schematic);
  if (refusal !== undefined) stderr.write(`WARNING: ${refusal}\n`);
  stdout.write(`${schematicId(schematic)}\n`);
  return Promise.resolve();
}
