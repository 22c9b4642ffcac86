import { createLogger, createX509Keys, systemClock } from "@talos-operator/adapters";
import { requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { parseDurability } from "../process/durability.ts";
import { startEmbeddedApi } from "../process/embedded-api.ts";
import { openLineLog } from "../process/line-log.ts";
import { readListen } from "../process/listen.ts";
import { parseLogLevel } from "../process/log-level.ts";
import { untilAborted } from "../process/until-aborted.ts";

export async function runApiserver(flags: FlagValues, context: CommandContext): Promise<void> {
  const durability = parseDurability(requiredString(flags, "durability"));
  const listen = readListen(flags, context);
  const log = createLogger({ level: parseLogLevel(requiredString(flags, "log-level")) });
  const auditPath = stringFlag(flags, "audit-log");
  const audit = auditPath === undefined ? undefined : await openLineLog(auditPath);
  const api = await startEmbeddedApi({
    folder: openDataFolder(requiredString(flags, "data-dir")),
    persist: true,
    durability,
    listen,
    keys: createX509Keys(),
    log,
    onRequest: (record) => audit?.write({ at: systemClock.now(), ...record }),
  });
  context.stderr.write(`Kubernetes API at ${api.url}, kubeconfig ${api.kubeconfigPath}\n`);
  await untilAborted(context.signal);
  await api.close();
  await audit?.close();
}
