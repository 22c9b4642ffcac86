/** One recorded call and what the genuine node answered. */
export interface RecordedCall {
  readonly label: string;
  readonly machine: "control-plane" | "worker";
  /** `machine.MachineService/Version` */
  readonly method: string;
  /** Request as protobuf JSON; `data: "@cfg/<name>"` stands for a machine config by name. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Whose certificate; absent = none. */
  readonly who?: string;
  /** `node=10.5.0.2` */
  readonly metadata?: readonly string[];
  readonly code: number;
  readonly message?: string;
  /** Answers as protobuf JSON, where they were kept. */
  readonly responses?: readonly unknown[];
}

/** A file of calls in the order in which they were made. */
export interface Transcript {
  readonly name: string;
  readonly calls: readonly RecordedCall[];
}

/** Reads a transcript; `rename` replaces recorded addresses by those of the subject. */
export function parseTranscript(name: string, text: string, rename: Readonly<Record<string, string>> = {}): Transcript {
  const renamed = Object.entries(rename).reduce((all, [from, to]) => all.replaceAll(from, to), text);
  return { name, calls: JSON.parse(renamed) as readonly RecordedCall[] };
}
