import type { FlagSpec } from "../command.ts";

/** Of commands that start Helm themselves. */
export const addonFlags: readonly FlagSpec[] = [
  {
    name: "helm",
    kind: "string",
    value: "file",
    summary: "the helm binary that child processes install addons with; without it, it is looked for in PATH",
  },
];
