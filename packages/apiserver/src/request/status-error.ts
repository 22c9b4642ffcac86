/** A refusal of the API: becomes a `Status` object with the reasons and messages that kube-apiserver uses. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: number;
  readonly reason: string;
  readonly details: Record<string, unknown> | undefined;
  /** The header of this name that goes with the refusal. */
  warning: string | undefined;

  constructor(code: number, reason: string, message: string, details?: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  toStatus(): Record<string, unknown> {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}
