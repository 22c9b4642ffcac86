import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { booleanFlag, numberFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { openLineLog } from "../process/line-log.ts";
import { parseLogLevel } from "../process/log-level.ts";
import { simulatedAddress } from "../process/loopback.ts";
import { isPace, startSimulatedMachines } from "../process/simulated-machines.ts";
import { untilAborted } from "../process/until-aborted.ts";

export async function runSimulator(flags: FlagValues, context: CommandContext): Promise<void> {
  const pace = requiredString(flags, "pace");
  if (!isPace(pace)) throw new CliError(`"${pace}" is no pace`, "Use demo, genuine or instant.", { exitCode: 2 });
  const count = numberFlag(flags, "machines") ?? 8;
  const bootSeconds = numberFlag(flags, "boot-seconds");
  const callLogPath = stringFlag(flags, "call-log");
  const calls = callLogPath === undefined ? undefined : await openLineLog(callLogPath);
  const received = new Map<number, number>();
  const machines = await startSimulatedMachines({
    folder: booleanFlag(flags, "persist") ? openDataFolder(requiredString(flags, "data-dir")) : undefined,
    addresses: Array.from({ length: count }, (_, index) => simulatedAddress(index + 1)),
    talosVersion: requiredString(flags, "talos-version"),
    pace,
    ...(bootSeconds === undefined ? {} : { bootMs: bootSeconds * 1000 }),
    keys: createX509Keys(),
    log: createLogger({ level: parseLogLevel(requiredString(flags, "log-level")) }),
    onCall: ({ id, phase, at, machine, path, mutating, code }) => {
      if (calls === undefined) return;
      if (phase === "received") received.set(id, at);
      else calls.write({ receivedAt: received.get(id), at, machine, path, mutating, code });
      if (phase === "answered") received.delete(id);
    },
  });
  context.stderr.write(`${count} machines wait at ${simulatedAddress(1)} ... ${simulatedAddress(count)}, port 50000\n`);
  await untilAborted(context.signal);
  await machines.close();
  await calls?.close();
}
