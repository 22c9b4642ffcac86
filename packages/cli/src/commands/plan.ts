import type { CommandSpec } from "../command.ts";
import { kubeconfigFlag, namespaceFlag } from "./shared-flags.ts";

export const planCommand: CommandSpec = {
  name: "plan",
  summary:
    "Says what an edit would do without making it: every step in order, with machines, effect class and what is left of etcd's quorum.",
  description:
    "It reads the current objects and the ClusterRecord, puts the TalosCluster, TalosControlPlane and TalosWorker objects of the file in their place, and plays the operator's rules forward. The API server is asked in a dry run whether it takes the objects, where you may write them: one that it would refuse ends the command with an error. Of a TalosClusterAddon or a TalosClusterAddonRelease Helm is asked what it would make, change and delete in each cluster; your access must reach these clusters and the Secrets that the addon names, and no value of a Secret is printed. Of an upgrade of Talos the API of the cluster is asked, with the kubeconfig Secret that is stored beside it, for budgets that forbid evictions and for room for evicted pods. No machine is asked: what is known of machines is what the operator last reported, and what is not known is said. For a plan from live looks, set the annotation talos.alperen.cloud/reconcile-mode to dryrun.",
  flags: [
    { name: "filename", short: "f", kind: "string", value: "file", summary: "manifest with the edited objects", required: true },
    { name: "delete", kind: "boolean", summary: "what deleting the objects of the file would do, as they are stored" },
    kubeconfigFlag,
    namespaceFlag,
    {
      name: "helm",
      kind: "string",
      value: "file",
      summary: "the helm that is asked what an addon would change; default: the one on the PATH",
    },
    { name: "allow-loopback-machines", kind: "boolean", summary: "let 127/8 and ::1 be machine addresses, as demo and standalone do" },
    { name: "output", short: "o", kind: "string", value: "text|json", summary: "form of the answer", default: "text" },
  ],
  run: async (flags, context) => (await import("./run-plan.ts")).runPlan(flags, context),
};
