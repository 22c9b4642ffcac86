import type { FlagSpec } from "../command.ts";

/** Of commands that install addons. */
export const addonFlags: readonly FlagSpec[] = [
  {
    name: "allow-insecure-chart-repositories",
    kind: "boolean",
    summary: "allow chart repositories without TLS verification (anyone on the network path can choose what is installed)",
  },
  {
    name: "helm",
    kind: "string",
    value: "file",
    summary: "the helm binary that child processes install addons with; without it, it is looked for in PATH",
  },
];
