import type { CommandSpec } from "../command.ts";
import { addonFlags } from "../settings/addon-flags.ts";
import { localBackupFlags } from "../settings/backup-flags.ts";
import { dataDirFlag, durabilityFlag, listenFlag, operatorLogLevelFlag } from "./shared-flags.ts";

export const standaloneCommand: CommandSpec = {
  name: "standalone",
  summary: "Embedded Kubernetes API and operator against real machines, without a management cluster.",
  description:
    "Applies what the manifest says and did not say at the last start, then shows its clusters until Ctrl-C: what was edited since stays as it is. kubeconfig and talosconfig of each cluster are written below clusters/ in the data folder. On a terminal the log is standalone.log there, else it goes to standard error. The machines must be reachable at the addresses that it names, in maintenance mode.",
  flags: [
    dataDirFlag,
    { name: "manifest", kind: "string", value: "file", summary: "YAML file with the objects to apply", required: true },
    listenFlag,
    durabilityFlag,
    ...localBackupFlags,
    ...addonFlags,
    operatorLogLevelFlag,
  ],
  run: async (flags, context) => {
    context.stderr.write("Starting a Kubernetes API and the operator ...\n");
    await (await import("./run-standalone.ts")).runStandalone(flags, context);
  },
};
