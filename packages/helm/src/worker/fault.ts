import type { ChartFacts, HelmFailureReason, Revision } from "../task/result.ts";

/** Why a run ends without success. The message is for people, and holds no secret. */
export class WorkerFault extends Error {
  override readonly name = "WorkerFault";
  readonly reason: HelmFailureReason;
  readonly mayRepeat: boolean;
  readonly chart: ChartFacts | undefined;
  /** What Helm has by then; `undefined` where it was not asked. */
  readonly history: readonly Revision[] | undefined;

  constructor(reason: HelmFailureReason, message: string, mayRepeat: boolean, options?: WorkerFaultOptions) {
    super(message, options);
    this.reason = reason;
    this.mayRepeat = mayRepeat;
    this.chart = options?.chart;
    this.history = options?.history;
  }
}

interface WorkerFaultOptions extends ErrorOptions {
  readonly chart?: ChartFacts;
  readonly history?: readonly Revision[];
}
