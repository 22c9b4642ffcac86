import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import type { Logger } from "@talos-operator/ports";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel;
  /** `json` (default): one object per line. `text`: time, level, message and fields, for people. */
  readonly format?: "json" | "text";
  /** Where lines go. Default: standard error, so that standard output stays data. */
  readonly destination?: DestinationStream;
}

/** JSON lines, one per record, with `level` as a word in lower case, `timestamp` in ISO 8601, and `message`. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const destination = options.destination ?? pino.destination({ fd: 2, sync: true });
  return wrap(
    pino(
      {
        level: options.level ?? "info",
        base: null,
        messageKey: "message",
        timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        redact: { paths: ["key", "token", "secret", "password", "*.key", "*.token", "*.secret", "*.password"], censor: "[redacted]" },
      },
      options.format === "text" ? { write: (line) => destination.write(textOf(line)) } : destination,
    ),
  );
}

/** `2026-01-02T03:04:05.678Z INFO  Sent machine config machine=cp-1`. What holds no single word is JSON. */
function textOf(line: string): string {
  const { timestamp, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(([name, value]) => {
    const isWord = typeof value === "string" && /^[^\s"=]+$/.test(value);
    return `${name}=${isWord ? value : JSON.stringify(value)}`;
  });
  return `${[timestamp, String(level).toUpperCase().padEnd(5), message, ...rest].join(" ")}\n`;
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
