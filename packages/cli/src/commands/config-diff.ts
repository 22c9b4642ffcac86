import type { CommandSpec } from "../command.ts";
import { talosVersionFlag } from "./shared-flags.ts";

export const configDiffCommand: CommandSpec = {
  name: "config diff",
  summary: "Shows in which fields two machine configs differ, without secrets.",
  description: "Spelling does not count: comments, order of keys, `5m` and `5m0s`, a default that is written out.",
  operands: [
    { name: "old-config", summary: "the config before" },
    { name: "new-config", summary: "the config after" },
  ],
  flags: [{ name: "exit-code", kind: "boolean", summary: "fail when they differ" }, talosVersionFlag],
  run: async (flags, context) => (await import("./run-config-diff.ts")).runConfigDiff(flags, context),
};
