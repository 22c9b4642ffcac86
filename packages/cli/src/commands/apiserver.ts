import type { CommandSpec } from "../command.ts";
import { dataDirFlag, durabilityFlag, listenFlag, logLevelFlag } from "./shared-flags.ts";

export const apiserverCommand: CommandSpec = {
  name: "apiserver",
  summary: "The embedded Kubernetes API alone, with the operator's kinds installed.",
  flags: [
    dataDirFlag,
    listenFlag,
    durabilityFlag,
    {
      name: "audit-log",
      kind: "string",
      value: "file",
      summary: "append one JSON line per request: time, user, user agent, verb, path, status",
    },
    logLevelFlag,
  ],
  run: async (flags, context) => (await import("./run-apiserver.ts")).runApiserver(flags, context),
};
