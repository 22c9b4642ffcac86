import type { ChartFacts, HelmFailureReason } from "../task/result.ts";

/** Why a run ends without success. The message is for people, and holds no secret. */
export class WorkerFault extends Error {
  override readonly name = "WorkerFault";
  readonly reason: HelmFailureReason;
  readonly mayRepeat: boolean;
  readonly chart: ChartFacts | undefined;

  constructor(reason: HelmFailureReason, message: string, mayRepeat: boolean, options?: ErrorOptions & { readonly chart?: ChartFacts }) {
    super(message, options);
    this.reason = reason;
    this.mayRepeat = mayRepeat;
    this.chart = options?.chart;
  }
}
