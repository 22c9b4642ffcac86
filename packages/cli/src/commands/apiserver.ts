import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { requiredString, type CommandSpec } from "../command.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { parseDurability } from "../process/durability.ts";
import { startEmbeddedApi } from "../process/embedded-api.ts";
import { parseListen } from "../process/listen.ts";
import { parseLogLevel } from "../process/log-level.ts";
import { untilAborted } from "../process/until-aborted.ts";
import { dataDirFlag, durabilityFlag, listenFlag, logLevelFlag } from "./shared-flags.ts";

export const apiserverCommand: CommandSpec = {
  name: "apiserver",
  summary: "The embedded Kubernetes API alone, with the operator's kinds installed.",
  flags: [dataDirFlag, listenFlag, durabilityFlag, logLevelFlag],
  async run(flags, context) {
    const api = await startEmbeddedApi({
      folder: openDataFolder(requiredString(flags, "data-dir")),
      persist: true,
      durability: parseDurability(requiredString(flags, "durability")),
      listen: parseListen(requiredString(flags, "listen")),
      keys: createX509Keys(),
      log: createLogger({ level: parseLogLevel(requiredString(flags, "log-level")) }),
    });
    context.stderr.write(`Kubernetes API at ${api.url}, kubeconfig ${api.kubeconfigPath}\n`);
    await untilAborted(context.signal);
    await api.close();
  },
};
