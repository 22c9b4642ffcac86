import type { CommandSpec } from "../command.ts";
import { dataDirFlag, logLevelFlag } from "./shared-flags.ts";

export const simulatorCommand: CommandSpec = {
  name: "simulator",
  summary: "Simulated Talos machines alone, in maintenance mode at 127.1.0.1 and up, port 50000.",
  description: "Machines keep their state in the data folder and come back as they were.",
  flags: [
    { ...dataDirFlag, summary: "folder for the machines' state" },
    { name: "machines", kind: "number", value: "count", summary: "how many", default: 8, min: 1 },
    { name: "talos-version", kind: "string", value: "version", summary: "Talos on the boot media", default: "v1.13.9" },
    { name: "pace", kind: "string", value: "demo|instant", summary: "demo: slow enough to watch; instant: no waiting", default: "demo" },
    {
      name: "call-log",
      kind: "string",
      value: "file",
      summary: "append one JSON line per answered call: time, machine, path, whether it can change something, gRPC code",
    },
    logLevelFlag,
  ],
  run: async (flags, context) => (await import("./run-simulator.ts")).runSimulator(flags, context),
};
