import type { CommandSpec } from "../command.ts";
import { kubeconfigFlag, namespaceFlag } from "./shared-flags.ts";

export const whyCommand: CommandSpec = {
  name: "why",
  summary: "Says what an object waits for, since when, what releases it, and what was decided: why taloscluster/demo.",
  description:
    "It only reads: the object, what it consists of, and the ClusterRecord with open effects and the last decisions. Kinds are taken as kubectl takes them: TalosControlPlane, taloscontrolplanes or tcp.",
  operands: [{ name: "object", summary: "<kind>/<name>, for example tcp/demo" }],
  flags: [
    kubeconfigFlag,
    namespaceFlag,
    { name: "output", short: "o", kind: "string", value: "text|json", summary: "form of the answer", default: "text" },
  ],
  run: async (flags, context) => (await import("./run-why.ts")).runWhy(flags, context),
};
