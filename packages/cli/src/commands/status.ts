import type { CommandSpec } from "../command.ts";
import { kubeconfigFlag, namespaceFlag } from "./shared-flags.ts";

export const statusCommand: CommandSpec = {
  name: "status",
  summary: "Shows clusters as trees: control plane, pools and machines, what runs on each, and what each waits for.",
  description:
    "It only reads objects of the API, once or with --watch until Ctrl-C. Machines of a pool that are alike are counted beyond ten. Kinds are taken as kubectl takes them: TalosControlPlane, taloscontrolplanes or tcp. `why` says of one object what would release it.",
  operands: [
    { name: "object", summary: "<kind>/<name>, for example tc/demo; without it, every cluster of the namespace", isOptional: true },
  ],
  flags: [
    kubeconfigFlag,
    namespaceFlag,
    { name: "all-namespaces", short: "A", kind: "boolean", summary: "clusters of every namespace" },
    {
      name: "watch",
      short: "w",
      kind: "boolean",
      summary: "go on, and draw it anew when something changes; in a pipe, a line for each change",
    },
    { name: "all", kind: "boolean", summary: "show every machine" },
    { name: "output", short: "o", kind: "string", value: "text|json", summary: "form of the answer", default: "text" },
  ],
  run: async (flags, context) => (await import("./run-status.ts")).runStatus(flags, context),
};
