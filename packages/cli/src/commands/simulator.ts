import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { numberFlag, requiredString, type CommandSpec } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { parseLogLevel } from "../process/log-level.ts";
import { simulatedAddress } from "../process/loopback.ts";
import { startSimulatedMachines } from "../process/simulated-machines.ts";
import { untilAborted } from "../process/until-aborted.ts";
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
    logLevelFlag,
  ],
  async run(flags, context) {
    const pace = requiredString(flags, "pace");
    if (pace !== "demo" && pace !== "instant") throw new CliError(`"${pace}" is no pace`, "Use demo or instant.", { exitCode: 2 });
    const count = numberFlag(flags, "machines") ?? 8;
    const machines = await startSimulatedMachines({
      folder: openDataFolder(requiredString(flags, "data-dir")),
      addresses: Array.from({ length: count }, (_, index) => simulatedAddress(index + 1)),
      talosVersion: requiredString(flags, "talos-version"),
      pace,
      keys: createX509Keys(),
      log: createLogger({ level: parseLogLevel(requiredString(flags, "log-level")) }),
    });
    context.stderr.write(`${count} machines wait at ${simulatedAddress(1)} ... ${simulatedAddress(count)}, port 50000\n`);
    await untilAborted(context.signal);
    await machines.close();
  },
};
