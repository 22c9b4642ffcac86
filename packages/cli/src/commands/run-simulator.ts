import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { booleanFlag, numberFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { keepFirstAddress, simulatedAddresses } from "../process/first-address.ts";
import { openLineLog } from "../process/line-log.ts";
import { parseLogLevel } from "../process/log-level.ts";
import { isPace, startSimulatedMachines } from "../process/simulated-machines.ts";
import { untilAborted } from "../process/until-aborted.ts";

export async function runSimulator(flags: FlagValues, context: CommandContext): Promise<void> {
  const pace = requiredString(flags, "pace");
  if (!isPace(pace)) throw new CliError(`"${pace}" is no pace`, "Use demo, genuine or instant.", { exitCode: 2 });
  const count = numberFlag(flags, "machines") ?? 8;
  const addressOf = simulatedAddresses(requiredString(flags, "first-address"), count);
  const folder = booleanFlag(flags, "persist") ? openDataFolder(requiredString(flags, "data-dir")) : undefined;
  if (folder !== undefined) keepFirstAddress(folder, addressOf(1));
  const bootSeconds = numberFlag(flags, "boot-seconds");
  const callLogPath = stringFlag(flags, "call-log");
  const calls = callLogPath === undefined ? undefined : await openLineLog(callLogPath);
  const received = new Map<number, number>();
  const machines = await startSimulatedMachines({
    folder,
    addresses: Array.from({ length: count }, (_, index) => addressOf(index + 1)),
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
  context.stderr.write(`${count} machines wait at ${addressOf(1)} ... ${addressOf(count)}, port 50000\n`);
  await untilAborted(context.signal);
  await machines.close();
  await calls?.close();
}
