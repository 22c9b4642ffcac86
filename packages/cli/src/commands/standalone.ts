import type { CommandSpec } from "../command.ts";
import { dataDirFlag, durabilityFlag, listenFlag, operatorLogLevelFlag } from "./shared-flags.ts";

export const standaloneCommand: CommandSpec = {
  name: "standalone",
  summary: "Embedded Kubernetes API and operator against real machines, without a management cluster.",
  description:
    "Applies what the manifest says and did not say at the last start, then stays: what was edited since stays as it is. The machines must be reachable at the addresses that it names, in maintenance mode.",
  flags: [
    dataDirFlag,
    { name: "manifest", kind: "string", value: "file", summary: "YAML file with the objects to apply", required: true },
    listenFlag,
    durabilityFlag,
    operatorLogLevelFlag,
  ],
  run: async (flags, context) => (await import("./run-standalone.ts")).runStandalone(flags, context),
};
