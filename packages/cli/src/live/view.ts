import type { TreeNode } from "@talos-operator/operator";

/** What is shown of clusters at one moment. */
export interface View {
  readonly trees: readonly TreeNode[];
  /** One line above them, such as what goes on and for how long. */
  readonly title?: string;
  /** When it was seen, as it stands before a line in a log. */
  readonly at?: string;
  /** What happened, oldest first. */
  readonly events?: readonly ViewEvent[];
  /** What there is beside clusters, such as machines that none names. */
  readonly beside?: readonly string[];
}

export interface ViewEvent {
  /** Never the same for two. */
  readonly id: string;
  readonly at: string;
  readonly text: string;
}
