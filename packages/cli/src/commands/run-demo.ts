import { createLogger, createX509Keys, systemClock, systemTimers } from "@talos-operator/adapters";
import type { Datacenter } from "@talos-operator/simulator";
import { booleanFlag, givenString, numberFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { brokenVersionOf } from "../process/broken-version.ts";
import { createScreen } from "../live/screen.ts";
import { seconds } from "../live/times.ts";
import { writeAllAccessFiles } from "../process/access-files.ts";
import { attendClusters } from "../process/attend.ts";
import { lockFolder } from "../process/lock-folder.ts";
import { openDataFolder, unusable, type DataFolder } from "../process/data-folder.ts";
import { openDemoCharts } from "../process/demo-charts.ts";
import { openDemoStorage } from "../process/demo-storage.ts";
import { exampleManifest } from "../process/example.ts";
import { openFolderLog } from "../process/folder-log.ts";
import { accessHints, closingHints, shellPath, type StartedAs } from "../process/hints.ts";
import { etcdTroubleOf, troubleEtcd } from "../process/etcd-trouble.ts";
import { readListen } from "../process/listen.ts";
import { openLocalAddons } from "../process/local-addons.ts";
import { openLocalBackups } from "../process/local-backups.ts";
import { GOAL_KINDS } from "../process/look-at-clusters.ts";
import { isLoopback, requireBindable, simulatedAddress } from "../process/loopback.ts";
import { machineAddresses, readManifest } from "../process/manifest.ts";
import { createNodeCheck } from "../process/node-check.ts";
import { createRecentEvents } from "../process/recent-events.ts";
import { startProvidedMachines } from "../process/provided-machines.ts";
import { startSimulatedMachines } from "../process/simulated-machines.ts";
import { startStandalone } from "../process/standalone-process.ts";
import { readSettings } from "../settings/read-settings.ts";

/** Simulated machines are well within seconds after a boot: nobody waits a quarter of an hour for a version that is broken. */
const DEMO_UPGRADE_MS = 45_000;

/** Runs the demo until it is Ready (with `--exit-when-ready`) or until it is stopped. */
export async function runDemo(flags: FlagValues, context: CommandContext): Promise<void> {
  const begunAt = systemClock.now();
  // Before anything is written: whatever the command line and the environment say wrongly.
  const compositions = readSettings({}, process.env).values;
  const listen = readListen(flags, context);
  const brokenVersion = brokenVersionOf(givenString(flags, "broken-version"));
  const etcdTrouble = etcdTroubleOf(givenString(flags, "etcd-trouble"));
  let datacenter: Datacenter | undefined;
  const objects = readManifest(stringFlag(flags, "manifest") ?? exampleManifest());
  if (!objects.some(({ kind }) => GOAL_KINDS.has(kind))) {
    throw new CliError(
      "the manifest holds no object that the demo could wait for",
      `Put at least one ${[...GOAL_KINDS].join(", ")} into it, or use the apiserver and simulator commands.`,
    );
  }
  const named = machineAddresses(objects);
  const addresses = simulatedAddresses(flags, named);
  // So is this: a second demo must leave the files of the first alone.
  await requireBindable(addresses);
  const folder = openDataFolder(requiredString(flags, "data-dir"));
  const persist = booleanFlag(flags, "persist");
  // A demo that keeps objects locks the folder with its store.
  const lock = persist ? undefined : lockFolder(folder);
  const log = createLogger({
    level: "debug",
    // When it cannot be written, the state cannot either: that ends the demo, with a word about it.
    destination: openFolderLog(folder, "demo.log", persist ? "a" : "w", (error) => {
      throw unusable(folder.path, error);
    }),
  });
  const keys = createX509Keys({ rsaPoolSize: 1 });
  // The service account's RSA key takes a second to find: begun now, it is there when the first cluster asks for it.
  keys.warm();

  const port = numberFlag(flags, "object-storage-port") ?? 0;
  const onMissing = (why: string): void =>
    void context.stderr.write(
      `warning: no S3 endpoint for backups at 127.0.0.1:${port} (${why}); --object-storage-port takes another port\n`,
    );
  const storage = port === 0 ? undefined : await openDemoStorage({ folder: persist ? folder : undefined, port, log, onMissing });
  const chartPort = numberFlag(flags, "chart-repository-port") ?? 0;
  const onMissingCharts = (why: string): void =>
    void context.stderr.write(
      `warning: no repository of charts at 127.0.0.1:${chartPort} (${why}); --chart-repository-port takes another port\n`,
    );
  const charts = chartPort === 0 ? undefined : await openDemoCharts({ port: chartPort, keys, onMissing: onMissingCharts });

  const addons = openLocalAddons(flags, { runs: folder.file("addon-runs"), log });
  const standalone = await startStandalone({
    folder,
    persist,
    durability: "process-crash",
    listen,
    keys,
    log,
    compositions,
    upgradeWithinMs: DEMO_UPGRADE_MS,
    backups: openLocalBackups(flags, {
      runs: folder.file("backup-runs"),
      directory: folder.file("backups"),
      insecureHosts: storage === undefined ? [] : [storage.host],
      log,
    }),
    addons,
    startSurroundings: async (client) => {
      await storage?.tell(client);
      await charts?.tell(client);
      const talosVersion = requiredString(flags, "talos-version");
      context.stderr.write(`The Kubernetes API answers; ${addresses.length} machines boot ...\n`);
      const machines = await startSimulatedMachines({
        folder: persist ? folder : undefined,
        addresses,
        talosVersion,
        ...(brokenVersion === undefined ? {} : { brokenVersion }),
        pace: "demo",
        keys,
        log,
      });
      datacenter = machines.datacenter;
      const provider = startProvidedMachines({ client, datacenter: machines.datacenter, talosVersion, named, log });
      return {
        async close() {
          await provider.close();
          await machines.close();
        },
      };
    },
  });
  const started: StartedAs = { words: process.argv.slice(2), environment: process.env, folder: process.cwd() };
  const nodes = createNodeCheck(standalone.client);
  let isStaying = true;
  let wasReady = false;
  try {
    const applied = await standalone.apply(objects);
    const screen = createScreen(context.stderr, process.env, { most: MOST_ALIKE, kept: context.stdout });
    const attending = attendClusters(
      {
        client: standalone.client,
        applied,
        nodes,
        clock: systemClock,
        timers: systemTimers,
        screen,
        events: createRecentEvents(standalone.client, begunAt),
        begunAt,
        addresses,
        timeoutSeconds: numberFlag(flags, "timeout"),
        onReady: async () => {
          const files = await writeAllAccessFiles(standalone.client, folder, applied);
          const hasHelm = (await addons.dependencies.helm?.())?.found === true;
          const hints = accessHints(started, {
            kubeconfig: standalone.api.kubeconfigPath,
            applied,
            files,
            objectStorage: storage?.host,
            chartRepository: hasHelm ? charts?.url : undefined,
          });
          isStaying = !booleanFlag(flags, "exit-when-ready");
          screen.keep([`Ready after ${seconds(systemClock.now() - begunAt)}.`], hints, isStaying ? ["", "Ctrl-C stops it."] : []);
          if (etcdTrouble !== undefined && datacenter !== undefined) troubleEtcd(datacenter, etcdTrouble);
          return isStaying ? "stay" : "leave";
        },
      },
      context.signal,
    );
    const stopped = standalone.operator.done.then(() => Promise.reject(new Error("the operator stopped")));
    wasReady = await Promise.race([attending, stopped]);
    if (isStaying) context.stderr.write("\nStopping ...\n");
  } finally {
    nodes.close();
    await standalone.close();
    await storage?.close();
    await charts?.close();
    keys.close();
    lock?.close();
  }
  if (isStaying) for (const line of closingHints(started, whatStays(started, folder, persist))) context.stderr.write(`${line}\n`);
  if (!wasReady) throw context.signal.reason;
}

/** Machines that are alike are shown up to this many. */
const MOST_ALIKE = 10;

function whatStays(started: StartedAs, folder: DataFolder, persist: boolean): Parameters<typeof closingHints>[1] {
  return persist
    ? {
        folder: folder.path,
        kept: "The cluster, its keys and the disks of its machines are kept in",
        anew: `rm -r ${shellPath(started, folder.path)}   # deletes all of it`,
      }
    : { folder: folder.path, kept: "Nothing is kept but kubeconfigs, of no use from now on, in", anew: undefined };
}

/** Machines that the manifest names at loopback addresses, then as many more as were asked for. */
function simulatedAddresses(flags: FlagValues, named: readonly string[]): readonly string[] {
  const outside = named.filter((address) => !isLoopback(address));
  if (outside.length > 0) {
    throw new CliError(
      `the demo cannot simulate machines at ${outside.join(", ")}`,
      "Use loopback addresses such as 127.1.0.1 in the manifest, or reach real machines with the standalone command.",
    );
  }
  const count = numberFlag(flags, "machines") ?? 8;
  const addresses = new Set(named);
  for (let n = 1; addresses.size < count; n += 1) addresses.add(simulatedAddress(n));
  return [...addresses];
}
