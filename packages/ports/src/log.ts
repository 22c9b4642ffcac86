/** Structured log. The message is constant, variables are fields. Keys, tokens, bundles and whole machine configs never enter it. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  /** The world changed. */
  info(fields: LogFields, message: string): void;
  /** Recovered by itself. */
  warn(fields: LogFields, message: string): void;
  /** Someone must look. */
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;
