import type { CommandSpec } from "../command.ts";
import { dataDirFlag, firstAddressFlag, logLevelFlag } from "./shared-flags.ts";

/** Each has listeners and timers of its own; a thousand take some 400 MiB. */
const MOST_MACHINES = 10_000;

export const simulatorCommand: CommandSpec = {
  name: "simulator",
  summary: "Simulated Talos machines alone, in maintenance mode, port 50000.",
  description: "Machines keep their state in the data folder and come back as they were.",
  flags: [
    { ...dataDirFlag, summary: "folder for the machines' state" },
    { name: "persist", kind: "boolean", summary: "keep nothing: machines begin in maintenance mode each time", default: true },
    { name: "machines", kind: "number", value: "count", summary: "how many", default: 8, min: 1, max: MOST_MACHINES, isCount: true },
    firstAddressFlag,
    { name: "talos-version", kind: "string", value: "version", summary: "Talos on the boot media", default: "v1.13.9" },
    {
      name: "pace",
      kind: "string",
      value: "demo|genuine|instant",
      summary: "demo: slow enough to watch; genuine: as genuine nodes in containers, a cluster in a minute; instant: no waiting",
      default: "demo",
    },
    {
      name: "boot-seconds",
      kind: "number",
      value: "seconds",
      summary: "how long a machine takes from power to an answer; default is that of the pace",
      min: 0,
      max: 3600,
    },
    {
      name: "call-log",
      kind: "string",
      value: "file",
      summary:
        "append one JSON line per answered call: when it came and when it was answered, machine, path, whether it can change something, gRPC code",
    },
    logLevelFlag,
  ],
  run: async (flags, context) => (await import("./run-simulator.ts")).runSimulator(flags, context),
};
