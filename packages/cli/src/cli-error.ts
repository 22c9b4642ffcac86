/**
 * A failure that the person at the terminal can mend: printed as `error: <message>` and, on a line of its own, what to do.
 * Everything else that is thrown is a fault of ours and is printed with its stack.
 */
export class CliError extends Error {
  override readonly name = "CliError";
  /** What to do next, one sentence. */
  readonly remedy: string;
  /** 1 = failed, 2 = wrong use, 3 = time is up, 4 = a backup is damaged. */
  readonly exitCode: number;

  constructor(message: string, remedy: string, options: { cause?: unknown; exitCode?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.remedy = remedy;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The `code` of a Node error such as `EADDRINUSE`, else `undefined`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
