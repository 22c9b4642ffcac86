/** What sets workers of one kind apart from others: what their Jobs are made of and marked with, and how their answers are read. */
export interface WorkerKind<Result> {
  /** Value of the label `component` on Jobs, pods and Secrets, and name of the container. */
  readonly component: string;
  /** Command of this program that does a task. */
  readonly command: string;
  /** Label with the UID of the object that a run was made for. */
  readonly uidLabel: string;
  /** Label with the kind of the task. */
  readonly taskLabel: string;
  /** Annotation with namespace and name of that object: labels are too short for both. */
  readonly ownerAnnotation: string;
  /** Environment of the container, by name. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What a worker told; `undefined` for anything that is no result. Whether it is to be believed is another question. */
  readonly readResult: (message: string | undefined) => Result | undefined;
}
