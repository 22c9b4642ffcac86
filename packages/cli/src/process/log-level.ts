import type { LogLevel } from "@talos-operator/adapters";
import { CliError } from "../cli-error.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

export function parseLogLevel(text: string): LogLevel {
  const level = LEVELS.find((candidate) => candidate === text);
  if (level === undefined) throw new CliError(`"${text}" is no log level`, `Use one of ${LEVELS.join(", ")}.`, { exitCode: 2 });
  return level;
}
