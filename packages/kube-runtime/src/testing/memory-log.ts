import type { LogFields, Logger } from "@talos-operator/ports";

/** One line that was logged. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps its lines and prints nothing. */
export function createMemoryLog(): Logger & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const loggerWith = (base: LogFields): Logger => {
    const at = (level: LogLine["level"]) => (fields: LogFields, message: string) =>
      void lines.push({ level, message, fields: { ...base, ...fields } });
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => loggerWith({ ...base, ...fields }),
    };
  };
  return { ...loggerWith({}), lines };
}
