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
    debug: (fields, message) => inner.debug(fields, message),
    info: (fields, message) => inner.info(fields, message),
    warn: (fields, message) => inner.warn(fields, message),
    error: (fields, message) => inner.error(fields, message),
    child: (fields) => wrap(inner.child(fields)),
  };
}
