/**
 * Codes of SimulatorError; each is explained in `docs/reference/errors/simulator.md`.
 */
export type SimulatorErrorCode =
  "UNKNOWN_MACHINE" | "ADDRESS_IN_USE" | "BAD_SNAPSHOT" | "BAD_MACHINE" | "CANNOT_LISTEN" | "CLOSED" | "BAD_OBJECT_STORAGE";

/** Every code, for the test that compares code and page. */
export const simulatorErrorCodes: readonly SimulatorErrorCode[] = [
  "UNKNOWN_MACHINE",
  "ADDRESS_IN_USE",
  "BAD_SNAPSHOT",
  "BAD_MACHINE",
  "CANNOT_LISTEN",
  "CLOSED",
  "BAD_OBJECT_STORAGE",
];

/** What the simulator throws at those who build or steer a datacenter, or serve its S3 endpoint. What its machines answer are call failures, not this. */
export class SimulatorError extends Error {
  readonly code: SimulatorErrorCode;
  /** Address of the machine in question; none for the S3 endpoint. */
  readonly machine: string | undefined;

  constructor(code: SimulatorErrorCode, message: string, options: { readonly machine?: string; readonly cause?: unknown } = {}) {
    super(`${code}: ${message}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SimulatorError";
    this.code = code;
    this.machine = options.machine;
  }
}
