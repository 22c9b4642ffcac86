import { createLogger, createX509Keys, systemClock, systemTimers } from "@talos-operator/adapters";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Keys, Logger } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { booleanFlag, givenString, numberFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { brokenVersionOf } from "../process/broken-version.ts";
import { createScreen } from "../live/screen.ts";
import { seconds } from "../live/times.ts";
import { keepAccessFiles } from "../process/access-files.ts";
import { attendClusters } from "../process/attend.ts";
import { lockFolder } from "../process/lock-folder.ts";
import { openDataFolder, unusable, type DataFolder } from "../process/data-folder.ts";
import { openDemoCharts } from "../process/demo-charts.ts";
import { openDemoStorage, type DemoStorageOptions } from "../process/demo-storage.ts";
import { readExample } from "../process/example.ts";
import { keepFirstAddress, simulatedAddresses, type SimulatedAddress } from "../process/first-address.ts";
import { openFolderLog } from "../process/folder-log.ts";
import { accessHints, closingHints, clusterHints, shellPath, startedAs, type StartedAs } from "../process/hints.ts";
import { etcdTroubleOf, troubleEtcd } from "../process/etcd-trouble.ts";
import { readListen } from "../process/listen.ts";
import { openLocalAddons, type LocalAddons } from "../process/local-addons.ts";
import { openLocalBackups } from "../process/local-backups.ts";
import { GOAL_KINDS, spareAddresses } from "../process/look-at-clusters.ts";
import { isLoopback, requireBindable } from "../process/loopback.ts";
import { machineAddresses, readManifest } from "../process/manifest.ts";
import { createNodeCheck } from "../process/node-check.ts";
import { notServed } from "../process/not-served.ts";
import { createRecentEvents } from "../process/recent-events.ts";
import { startProvidedMachines } from "../process/provided-machines.ts";
import { startSimulatedMachines, type SimulatedMachines, type SimulatedMachinesOptions } from "../process/simulated-machines.ts";
import { startStandalone } from "../process/standalone-process.ts";
import { readSettings } from "../settings/read-settings.ts";
import { MOST_DEMO_MACHINES } from "./shared-flags.ts";

/** Simulated machines are well within seconds after a boot: nobody waits a quarter of an hour for a version that is broken. */
const DEMO_UPGRADE_MS = 45_000;

/** Runs the demo until it is Ready (with `--exit-when-ready`) or until it is stopped. */
export async function runDemo(flags: FlagValues, context: CommandContext): Promise<void> {
  const begunAt = systemClock.now();
  // Before anything is written: whatever the command line and the environment say wrongly.
  const asked = readAsked(flags, context);
  // So is this: a second demo must leave the files of the first alone.
  await requireBindable(asked.addresses);
  const folder = openDataFolder(requiredString(flags, "data-dir"));
  const persist = booleanFlag(flags, "persist");
  if (persist) keepFirstAddress(folder, asked.addressOf(1));
  // A demo that keeps objects locks the folder with its store.
  const lock = persist ? undefined : lockFolder(folder);
  const log = openLog(folder, persist);
  const keys = createX509Keys({ rsaPoolSize: 1 });
  // The service account's RSA key takes a second to find: begun now, it is there when the first cluster asks for it.
  keys.warm();

  const kept = persist ? folder : undefined;
  const storage = await storageOf(flags, context, { folder: kept, log });
  const charts = await chartsOf(flags, context, keys);
  const addons = openLocalAddons(flags, { runs: folder.file("addon-runs"), log });
  let datacenter: Datacenter | undefined;
  const standalone = await startStandalone({
    folder,
    persist,
    durability: "process-crash",
    listen: asked.listen,
    keys,
    log,
    compositions: asked.compositions,
    upgradeWithinMs: DEMO_UPGRADE_MS,
    backups: openLocalBackups(flags, {
      settings: asked.compositions,
      runs: folder.file("backup-runs"),
      directory: folder.file("backups"),
      insecureHosts: storage === undefined ? [] : [storage.host],
      log,
    }),
    addons,
    startSurroundings: async (client) => {
      await storage?.tell(client);
      await charts?.tell(client);
      context.stderr.write(`The Kubernetes API answers; ${asked.addresses.length} machines boot ...\n`);
      const machines = await startMachines(asked, { client, folder: kept, keys, log });
      datacenter = machines.datacenter;
      return machines;
    },
  });
  const started = startedAs();
  const nodes = createNodeCheck(standalone.client);
  const access = keepAccessFiles(standalone.client, folder, () => systemClock.now());
  let isStaying = true;
  let wasReady = false;
  try {
    const applied = await standalone.apply(asked.objects);
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
        addresses: asked.addresses,
        timeoutSeconds: numberFlag(flags, "timeout"),
        onLook: async (isShown) => {
          const news = clusterHints(isShown ? await access.writeNews() : []);
          if (news.length > 0) screen.keep([], news, []);
        },
        onReady: async ({ trees }) => {
          const hints = accessHints(started, {
            kubeconfig: standalone.api.kubeconfigPath,
            applied,
            files: await access.write(),
            objectStorage: storage?.host,
            spare: spareAddresses(trees, asked.addresses)[0],
            chartRepository: (await hasHelm(addons)) ? charts?.url : undefined,
          });
          isStaying = !booleanFlag(flags, "exit-when-ready");
          screen.keep([`Ready after ${seconds(systemClock.now() - begunAt)}.`], hints, isStaying ? ["", "Ctrl-C stops it."] : []);
          if (asked.etcdTrouble !== undefined && datacenter !== undefined) troubleEtcd(datacenter, asked.etcdTrouble);
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

function openLog(folder: DataFolder, persist: boolean): Logger {
  return createLogger({
    level: "debug",
    // When it cannot be written, the state cannot either: that ends the demo, with a word about it.
    destination: openFolderLog(folder, "demo.log", persist ? "a" : "w", (error) => {
      throw unusable(folder.path, error);
    }),
  });
}

/** What the command line and the environment ask for. @throws CliError */
function readAsked(flags: FlagValues, context: CommandContext) {
  const listen = readListen(flags, context);
  const compositions = readSettings(flags, process.env).values;
  const brokenVersion = brokenVersionOf(givenString(flags, "broken-version"));
  const etcdTrouble = etcdTroubleOf(givenString(flags, "etcd-trouble"));
  // The example's cluster endpoint is behind the last machine.
  const addressOf = simulatedAddresses(requiredString(flags, "first-address"), MOST_DEMO_MACHINES + 1);
  const manifest = stringFlag(flags, "manifest");
  const objects = manifest === undefined ? readExample(addressOf) : readManifest(manifest);
  if (!objects.some(({ kind }) => GOAL_KINDS.has(kind))) {
    throw new CliError(
      "the manifest holds no object that the demo could wait for",
      `Put at least one ${[...GOAL_KINDS].join(", ")} into it, or use the apiserver and simulator commands.`,
    );
  }
  const named = machineAddresses(objects);
  const addresses = machinesToSimulate(flags, named, addressOf);
  return {
    compositions,
    listen,
    talosVersion: requiredString(flags, "talos-version"),
    brokenVersion,
    etcdTrouble,
    objects,
    named,
    addresses,
    addressOf,
  };
}

async function hasHelm({ dependencies }: LocalAddons): Promise<boolean> {
  return (await dependencies.helm?.())?.found === true;
}

/** The S3 endpoint for backups; `undefined` where none is asked for, or its port is taken. */
async function storageOf(
  flags: FlagValues,
  context: CommandContext,
  options: Pick<DemoStorageOptions, "folder" | "log">,
): ReturnType<typeof openDemoStorage> {
  const port = numberFlag(flags, "object-storage-port") ?? 0;
  if (port === 0) return undefined;
  const onMissing = (why: string): void =>
    void context.stderr.write(notServed("no S3 endpoint for backups is served", { port, why, flag: "object-storage-port" }));
  return openDemoStorage({ ...options, port, onMissing });
}

/** The repository of charts; `undefined` where none is asked for, or its port is taken. */
async function chartsOf(flags: FlagValues, context: CommandContext, keys: Keys): ReturnType<typeof openDemoCharts> {
  const port = numberFlag(flags, "chart-repository-port") ?? 0;
  if (port === 0) return undefined;
  const onMissing = (why: string): void =>
    void context.stderr.write(notServed("no charts for addons are served", { port, why, flag: "chart-repository-port" }));
  return openDemoCharts({ port, keys, onMissing });
}

/** Simulated machines, and what gives them to Machines. */
async function startMachines(
  { addresses, addressOf, named, talosVersion, brokenVersion }: ReturnType<typeof readAsked>,
  { client, folder, keys, log }: { readonly client: KubeClient } & Pick<SimulatedMachinesOptions, "folder" | "keys" | "log">,
): Promise<SimulatedMachines> {
  const machines = await startSimulatedMachines({
    folder,
    keys,
    log,
    addresses,
    talosVersion,
    ...(brokenVersion === undefined ? {} : { brokenVersion }),
    pace: "demo",
  });
  const { datacenter, endpoints } = machines;
  const provider = startProvidedMachines({ client, datacenter, talosVersion, named, addressOf, mostMachines: MOST_DEMO_MACHINES, log });
  return {
    datacenter,
    endpoints,
    async close() {
      await provider.close();
      await machines.close();
    },
  };
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
function machinesToSimulate(flags: FlagValues, named: readonly string[], addressOf: SimulatedAddress): readonly string[] {
  const outside = named.filter((address) => !isLoopback(address));
  if (outside.length > 0) {
    throw new CliError(
      `the demo cannot simulate machines at ${outside.join(", ")}`,
      "Use loopback addresses such as 127.1.0.1 in the manifest, or reach real machines with the standalone command.",
    );
  }
  const count = numberFlag(flags, "machines") ?? 8;
  const addresses = new Set(named);
  for (let n = 1; addresses.size < count; n += 1) addresses.add(addressOf(n));
  return [...addresses];
}
