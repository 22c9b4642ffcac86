import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import type { Logger } from "@talos-operator/ports";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Where lines go. Default: standard error, so that standard output stays data. */
  readonly destination?: DestinationStream;
}

/** JSON lines, one per record, with `level` as a word and `time` in ISO 8601. */
export function createLogger(options: LoggerOptions = {}): Logger {
  return wrap(
    pino(
      {
        level: options.level ?? "info",
        base: null,
        messageKey: "msg",
        timestamp: () => `,"time":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        redact: { paths: ["key", "token", "secret", "password", "*.key", "*.token", "*.secret", "*.password"], censor: "[redacted]" },
      },
      options.destination ?? pino.destination({ fd: 2, sync: true }),
    ),
  );
}

function wrap(inner: PinoLogger): Logger {
  return {
    debug: (fields, message) => inner.debug(shown(fields), message),
    info: (fields, message) => inner.info(shown(fields), message),
    warn: (fields, message) => inner.warn(shown(fields), message),
    error: (fields, message) => inner.error(shown(fields), message),
    child: (fields) => wrap(inner.child(shown(fields))),
  };
}

/**
 * The fields as JSON shows them. Redaction by path copies what it looks into, and the copy of an object that hides its keys hides nothing:
 * what a value wants to be seen as is asked for before.
 */
function shown(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, hasFace(value) ? value.toJSON() : value]));
}

function hasFace(value: unknown): value is { readonly toJSON: () => unknown } {
  return typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function";
}
