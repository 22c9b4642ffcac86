/** Machines that the recorded calls are sent to: simulated ones in this process, simulated ones behind gRPC, or genuine nodes. */
export interface ConformanceSubject {
  call(call: SubjectCall): Promise<Outcome>;
  /** Lets that much of the machines' time pass. */
  pause(ms: number): Promise<void>;
  /** Starts a machine that is off. */
  start(machine: SubjectCall["machine"]): void;
  /** Deadline for calls that the genuine node let hang, in milliseconds. */
  readonly hangMs: number;
}

export interface SubjectCall {
  readonly machine: "control-plane" | "worker";
  readonly method: string;
  /** Protobuf JSON, configs filled in. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly who: string | undefined;
  readonly metadata: Readonly<Record<string, readonly string[]>>;
  readonly timeoutMs: number;
  /** The recorder left a stream after so many messages; `undefined` = it read on until the stream ended or its deadline passed. */
  readonly take: number | undefined;
}

export interface Outcome {
  readonly code: number;
  readonly message: string;
  /** Protobuf JSON. */
  readonly responses: readonly unknown[];
}
