import type { Durability } from "@talos-operator/apiserver/https";
import { CliError } from "../cli-error.ts";

export function parseDurability(text: string): Durability {
  if (text === "process-crash" || text === "power-loss") return text;
  throw new CliError(`"${text}" is no durability`, "Use process-crash or power-loss.", { exitCode: 2 });
}
