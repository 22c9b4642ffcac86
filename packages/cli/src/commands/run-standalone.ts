import { createX509Keys, systemClock, systemTimers } from "@talos-operator/adapters";
import type { Logger } from "@talos-operator/ports";
import { CliError } from "../cli-error.ts";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { createScreen } from "../live/screen.ts";
import { isDrawable } from "../live/terminal.ts";
import { seconds } from "../live/times.ts";
import { keepAccessFiles, type AccessFiles } from "../process/access-files.ts";
import type { NamedObject } from "../process/apply-object.ts";
import { attendClusters } from "../process/attend.ts";
import { openDataFolder, type DataFolder } from "../process/data-folder.ts";
import { parseDurability } from "../process/durability.ts";
import { openFolderLog } from "../process/folder-log.ts";
import { accessHints, closingHints, clusterHints, startedAs, type StartedAs } from "../process/hints.ts";
import { readListen } from "../process/listen.ts";
import { openLocalAddons } from "../process/local-addons.ts";
import { openLocalBackups } from "../process/local-backups.ts";
import { readManifest } from "../process/manifest.ts";
import { openLog } from "../process/operator-log.ts";
import { createRecentEvents } from "../process/recent-events.ts";
import { startStandalone, type StandaloneProcess } from "../process/standalone-process.ts";
import { openTracing } from "../process/tracing.ts";
import { readSettings } from "../settings/read-settings.ts";

/** Machines that are alike are shown up to this many. */
const MOST_ALIKE = 10;
const LOG_FILE = "standalone.log";

export async function runStandalone(flags: FlagValues, context: CommandContext): Promise<void> {
  const begunAt = systemClock.now();
  const settings = readSettings(flags, process.env);
  const durability = parseDurability(requiredString(flags, "durability"));
  const listen = readListen(flags, context);
  const objects = readManifest(requiredString(flags, "manifest"));
  const folder = openDataFolder(requiredString(flags, "data-dir"));
  // Where clusters are drawn, lines of a log would tear the picture.
  const isDrawn = isDrawable(context.stderr, process.env);
  // A full disk does not end it: what is written then is answered with an error, and everything else goes on.
  const unlogged = (error: Error): void => void context.stderr.write(`${LOG_FILE} ends here: ${error.message}\n`);
  const log = openLog(settings, isDrawn ? openFolderLog(folder, LOG_FILE, "a", unlogged) : undefined);
  const tracing = await openTracing(settings, process.env, log);
  const standalone = await startStandalone({
    folder,
    persist: true,
    durability,
    listen,
    keys: createX509Keys({ rsaPoolSize: 1 }),
    log,
    compositions: settings.values,
    backups: openLocalBackups(flags, {
      settings: settings.values,
      runs: folder.file("backup-runs"),
      directory: folder.file("backups"),
      log,
    }),
    addons: openLocalAddons(flags, { runs: folder.file("addon-runs"), log }),
    tracing,
  });
  const started = startedAs();
  let applied: readonly NamedObject[] = [];
  try {
    applied = await standalone.apply(objects);
    context.stderr.write(`Kubernetes API at ${standalone.api.url}, kubeconfig ${standalone.api.kubeconfigPath}\n`);
    for (const { kind, metadata } of applied) context.stderr.write(`applied ${kind} ${metadata.namespace ?? "default"}/${metadata.name}\n`);
    if (isDrawn) context.stderr.write(`The log is ${folder.file(LOG_FILE)}\n`);
    const stopped = standalone.operator.done.then(() => Promise.reject(new Error("the operator stopped")));
    await Promise.race([attend({ standalone, folder, applied, started, begunAt, context, log }), stopped]);
    context.stderr.write("\nStopping ...\n");
  } finally {
    try {
      await standalone.close();
    } finally {
      await tracing?.close();
    }
  }
  for (const line of closingHints(started, whatStays(folder, applied))) context.stderr.write(`${line}\n`);
}

interface Attended {
  readonly standalone: StandaloneProcess;
  readonly folder: DataFolder;
  readonly applied: readonly NamedObject[];
  readonly started: StartedAs;
  readonly begunAt: number;
  readonly context: CommandContext;
  readonly log: Logger;
}

async function attend({ standalone, folder, applied, started, begunAt, context, log }: Attended): Promise<void> {
  const { client } = standalone;
  const screen = createScreen(context.stderr, process.env, { most: MOST_ALIKE, kept: context.stdout });
  const access = keepAccessFiles(client, folder, () => systemClock.now());
  const written = async (write: () => Promise<readonly AccessFiles[]>): Promise<readonly AccessFiles[]> => {
    try {
      return await write();
    } catch (err) {
      if (!(err instanceof CliError)) throw err;
      log.warn({ err }, "kubeconfig and talosconfig cannot be written");
      return [];
    }
  };
  await attendClusters(
    {
      client,
      applied,
      clock: systemClock,
      timers: systemTimers,
      screen,
      events: createRecentEvents(client, begunAt),
      begunAt,
      // Certificates are renewed, and files follow. They are there before all is Ready: whoever looks for what is wrong needs them.
      onLook: async (wasReady) => {
        const news = clusterHints(await written(access.writeNews));
        if (wasReady && news.length > 0) screen.keep([], news, []);
      },
      onReady: async () => {
        const files = await written(access.write);
        const hints = accessHints(started, { kubeconfig: standalone.api.kubeconfigPath, applied, files });
        screen.keep([`Ready after ${seconds(systemClock.now() - begunAt)}.`], hints, ["", "Ctrl-C stops the operator; machines go on."]);
        return "stay";
      },
    },
    context.signal,
  );
}

/** Who removes the folder of genuine machines loses their keys: to begin anew, the cluster is deleted first. */
function whatStays(folder: DataFolder, applied: readonly NamedObject[]): Parameters<typeof closingHints>[1] {
  const [first] = applied.filter(({ kind }) => kind === "KubernetesCluster" || kind === "TalosCluster" || kind === "TalosControlPlane");
  const name = first === undefined ? "the cluster" : `${first.kind.toLowerCase()} ${first.metadata.name}`;
  return {
    folder: folder.path,
    kept: "Machines go on, and nobody looks after them. Clusters and their keys are kept in",
    anew: `go on, kubectl delete ${name}, and remove the folder when it is gone: it holds the keys`,
  };
}
