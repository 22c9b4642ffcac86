import type { CommandSpec } from "../command.ts";

export const schematicIdCommand: CommandSpec = {
  name: "schematic id",
  summary: "Prints the id under which the Image Factory knows a schematic. Nothing is uploaded.",
  operands: [{ name: "schematic-file", summary: "schematic as YAML, - for standard input" }],
  flags: [],
  run: async (flags, context) => (await import("./run-schematic-id.ts")).runSchematicId(flags, context),
};
