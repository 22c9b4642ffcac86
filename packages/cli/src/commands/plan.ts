import type { CommandSpec } from "../command.ts";
import { kubeconfigFlag, namespaceFlag } from "./shared-flags.ts";

export const planCommand: CommandSpec = {
  name: "plan",
  summary:
    "Says what an edit would do without making it: every step in order, with machines, effect class and what is left of etcd's quorum.",
  description:
    "It reads the current objects and the ClusterRecord, puts the TalosCluster, TalosControlPlane and TalosWorker objects of the file in their place, and plays the operator's rules forward. No machine is asked: what is known of machines is what the operator last reported, and what is not known is said. For a plan from live looks, set the annotation reconcile-mode to dryrun.",
  flags: [
    { name: "filename", short: "f", kind: "string", value: "file", summary: "manifest with the edited objects", required: true },
    { name: "delete", kind: "boolean", summary: "what deleting the objects of the file would do, as they are stored" },
    kubeconfigFlag,
    namespaceFlag,
    { name: "allow-loopback-machines", kind: "boolean", summary: "let 127/8 and ::1 be machine addresses, as demo and standalone do" },
    { name: "output", short: "o", kind: "string", value: "text|json", summary: "form of the answer", default: "text" },
  ],
  run: async (flags, context) => (await import("./run-plan.ts")).runPlan(flags, context),
};
