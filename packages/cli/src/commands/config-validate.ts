import type { CommandSpec } from "../command.ts";
import { talosVersionFlag } from "./shared-flags.ts";

export const configValidateCommand: CommandSpec = {
  name: "config validate",
  summary: "Checks a machine config by the rules of `talosctl validate`.",
  description:
    "Warnings and errors go to standard error in talosctl's words; with errors the command fails. What Talos takes and Kubernetes refuses, or what shuts you out of a machine, is a warning with its code.",
  flags: [
    { name: "config", short: "c", kind: "string", value: "file", summary: "config to check, - for standard input", required: true },
    { name: "mode", short: "m", kind: "string", value: "metal|cloud|container", summary: "where the machine runs", required: true },
    { name: "strict", kind: "boolean", summary: "treat warnings as errors" },
    talosVersionFlag,
  ],
  run: async (flags, context) => (await import("./run-config-validate.ts")).runConfigValidate(flags, context),
};
