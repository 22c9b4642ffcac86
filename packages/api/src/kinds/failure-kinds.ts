/** How settings that were sent to a machine did not come into force. Stored words: none is used for anything else. */
export const failureKinds = ["refused", "reverted", "unknown"] as const;

/**
 * `refused`: the machine turned them down. `reverted`: they arrived, and it took them back, was booted in the trial, or was not well with them. `unknown`:
 * nobody knows why it does not run them.
 */
export type FailureKind = (typeof failureKinds)[number];

export const failureDescription =
  "How they failed: refused by the machine, reverted because it was not well with them, or unknown: nobody knows why it does not run them.";
