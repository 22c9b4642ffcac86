import type { CommandSpec } from "../command.ts";
import { talosVersionFlag } from "./shared-flags.ts";

export const configEffectsCommand: CommandSpec = {
  name: "config effects",
  summary:
    "Says what a new config does to a machine that runs the old one: per field live, service restart, reboot, reinstall, loss of data, forbidden.",
  description:
    "The gravest effect comes first. What is not classified may need a reboot. Values are not shown; `config diff` shows them without secrets.",
  operands: [
    { name: "old-config", summary: "config that the machine runs" },
    { name: "new-config", summary: "config that it would get" },
  ],
  flags: [
    { name: "output", short: "o", kind: "string", value: "table|json|yaml", summary: "form of the answer", default: "table" },
    talosVersionFlag,
  ],
  run: async (flags, context) => (await import("./run-config-effects.ts")).runConfigEffects(flags, context),
};
