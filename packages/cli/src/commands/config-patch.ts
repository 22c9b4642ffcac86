import type { CommandSpec } from "../command.ts";
import { talosVersionFlag } from "./shared-flags.ts";

export const configPatchCommand: CommandSpec = {
  name: "config patch",
  summary: "Patches a machine config: the bytes of `talosctl machineconfig patch`.",
  description:
    "Patches are fragments of a config (strategic merge, with `$patch: delete`) or lists of JSON patch operations; they are applied in order.",
  operands: [{ name: "machineconfig-file", summary: "config to patch, - for standard input" }],
  flags: [
    { name: "patch", short: "p", kind: "list", value: "patch", summary: "a patch, use @file to read it from a file" },
    { name: "output", short: "o", kind: "string", value: "file", summary: "where the result goes; without it, standard output" },
    talosVersionFlag,
  ],
  run: async (flags, context) => (await import("./run-config-patch.ts")).runConfigPatch(flags, context),
};
