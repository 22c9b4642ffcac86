import { createX509Keys } from "@talos-operator/adapters";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { parseDurability } from "../process/durability.ts";
import { readListen } from "../process/listen.ts";
import { readManifest } from "../process/manifest.ts";
import { openLog } from "../process/operator-log.ts";
import { startStandalone } from "../process/standalone-process.ts";
import { openTracing } from "../process/tracing.ts";
import { untilAborted } from "../process/until-aborted.ts";
import { readSettings } from "../settings/read-settings.ts";

export async function runStandalone(flags: FlagValues, context: CommandContext): Promise<void> {
  const settings = readSettings(flags, process.env);
  const log = openLog(settings);
  const durability = parseDurability(requiredString(flags, "durability"));
  const listen = readListen(flags, context);
  const objects = readManifest(requiredString(flags, "manifest"));
  const tracing = await openTracing(settings, process.env, log);
  const standalone = await startStandalone({
    folder: openDataFolder(requiredString(flags, "data-dir")),
    persist: true,
    durability,
    listen,
    keys: createX509Keys({ rsaPoolSize: 1 }),
    log,
    compositions: settings.values,
    tracing,
  });
  try {
    const applied = await standalone.apply(objects);
    context.stderr.write(`Kubernetes API at ${standalone.api.url}, kubeconfig ${standalone.api.kubeconfigPath}\n`);
    for (const { kind, metadata } of applied) context.stderr.write(`applied ${kind} ${metadata.namespace ?? "default"}/${metadata.name}\n`);
    await Promise.race([untilAborted(context.signal), standalone.operator.done]);
  } finally {
    try {
      await standalone.close();
    } finally {
      await tracing?.close();
    }
  }
}
