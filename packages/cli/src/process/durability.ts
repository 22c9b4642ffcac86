import { CliError } from "../cli-error.ts";

export type Durability = "process" | "power-loss";

export function parseDurability(text: string): Durability {
  if (text === "process" || text === "power-loss") return text;
  throw new CliError(`"${text}" is no durability`, "Use process or power-loss.", { exitCode: 2 });
}
