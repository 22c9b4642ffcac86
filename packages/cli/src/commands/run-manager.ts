import { createX509Keys, systemRandom, systemTimers } from "@talos-operator/adapters";
import { isDnsLabel } from "@talos-operator/api";
import { createKubeClient, createMetricsRegistry, measuredTransport } from "@talos-operator/kube-runtime";
import { createHttpsTransport, inClusterConfig, loadKubeconfig, showProcess } from "@talos-operator/kube-runtime/https";
import { createAddonJobRunner, createBackupJobRunner, noWorkersForHelm, OPERATOR_MANAGER } from "@talos-operator/operator";
import type { AddonDependencies, BackupDependencies, OperatorOptions } from "@talos-operator/operator";
import type { KubeTransport, Logger } from "@talos-operator/ports";
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { CliError } from "../cli-error.ts";
import { commaSeparated } from "../comma-separated.ts";
import { booleanFlag, givenString, numberFlag, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { backupBounds, type BackupSettings } from "../process/backup-bounds.ts";
import { compositionOptions, filesOf } from "../process/composition-settings.ts";
import { openLocalAddons } from "../process/local-addons.ts";
import { openLocalBackups } from "../process/local-backups.ts";
import { startOperator } from "../process/operator-process.ts";
import { openLog } from "../process/operator-log.ts";
import { startProbes } from "../process/probes.ts";
import { makeRunsFolder, removeAbandonedRuns } from "../process/runs-folder.ts";
import { openTracing } from "../process/tracing.ts";
import { untilAborted } from "../process/until-aborted.ts";
import type { AddonJobSettings } from "../settings/addon-job.ts";
import { readSettings } from "../settings/read-settings.ts";
import type { Settings } from "../settings/read-settings.ts";

/** A new leader takes over within six seconds instead of seventeen, for seven times the renewals. */
const FAST_LEASE = { leaseDurationMs: 5000, renewDeadlineMs: 3500, retryPeriodMs: 1000 };

/** @throws CliError for a list that cannot be read, or that would let nothing pass */
function registriesOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const registries = commaSeparated(text)?.map((one) => one.trim());
  if (registries === undefined || registries.length === 0 || !registries.every((one) => /^[\w[][\w[\]:./-]*$/.test(one)))
    throw new CliError(
      `--installer-registries: ${JSON.stringify(text)} is no list of registries`,
      "Write it as ghcr.io/siderolabs,factory.talos.dev.",
      {
        exitCode: 2,
      },
    );
  return registries;
}

/** @throws CliError for a name that no namespace can have */
function leaseNamespaceOf(text: string | undefined): string | undefined {
  if (text === undefined || isDnsLabel(text)) return text;
  throw new CliError(`--lease-namespace: ${JSON.stringify(text)} is no name of a namespace`, "Correct it, or leave it out.", {
    exitCode: 2,
  });
}

interface Surroundings {
  readonly kube: KubeTransport;
  /** Of the operator. */
  readonly namespace: string;
  /** It runs on somebody's own machine, with the memory of that. */
  readonly isLocal: boolean;
  readonly log: Logger;
}

/** What workers of this process need to end with it. */
interface Opened<Dependencies> {
  readonly dependencies: Dependencies;
  close(): Promise<void>;
}

/** Workers of a process that was killed end by themselves, and undo what they began before that. Milliseconds. */
const WORKERS_END_MS = 20_000;

/** Gives child processes a folder for their runs, which goes with them: of an operator that keeps nothing on this machine. */
function inFolderOfRuns<Dependencies>(open: (runs: string) => Opened<Dependencies>): Opened<Dependencies> {
  const runs = makeRunsFolder();
  const opened = open(runs);
  const cleaning = systemTimers.schedule(WORKERS_END_MS, () => removeAbandonedRuns());
  return {
    dependencies: opened.dependencies,
    async close() {
      cleaning.cancel();
      await opened.close();
      rmSync(runs, { recursive: true, force: true });
    },
  };
}

/** Jobs where BACKUP_JOB says what they are made of; child processes on a machine that is no pod; else none, and backups say so. */
function openBackups(
  flags: FlagValues,
  settings: BackupSettings & Pick<Settings["values"], "backupJob">,
  { kube, namespace, isLocal, log }: Surroundings,
): Opened<BackupDependencies> {
  const { backupJob: job } = settings;
  if (job === undefined && isLocal) return inFolderOfRuns((runs) => openLocalBackups(flags, { settings, runs, log }));
  const backupDirectory = givenString(flags, "backup-directory");
  const folder = backupDirectory === undefined ? {} : { backupDirectory };
  const client = createKubeClient(kube, { timers: systemTimers, random: systemRandom }, OPERATOR_MANAGER);
  return {
    dependencies: {
      ...backupBounds(flags, settings),
      ...folder,
      ...(job === undefined ? {} : { runner: createBackupJobRunner({ client, namespace, settings: job, ...folder }) }),
    },
    close: () => Promise.resolve(),
  };
}

/** Jobs where ADDON_JOB says what they are made of, whose image has Helm; child processes on a machine that is no pod; else none, and releases say so. */
function openAddons(
  flags: FlagValues,
  job: AddonJobSettings | undefined,
  { kube, namespace, isLocal, log }: Surroundings,
): Opened<AddonDependencies> {
  if (job === undefined && isLocal) return inFolderOfRuns((runs) => openLocalAddons(flags, { runs, log }));
  const client = createKubeClient(kube, { timers: systemTimers, random: systemRandom }, OPERATOR_MANAGER);
  return {
    dependencies: {
      allowUnchecked: booleanFlag(flags, "allow-insecure-chart-repositories"),
      ...(job === undefined ? { helm: noWorkersForHelm } : { runner: createAddonJobRunner({ client, namespace, settings: job }) }),
    },
    close: () => Promise.resolve(),
  };
}

export async function runManager(flags: FlagValues, context: CommandContext): Promise<void> {
  const settings = readSettings(flags, process.env);
  const log = openLog(settings);
  const registries = registriesOf(stringFlag(flags, "installer-registries"));
  const releases = stringFlag(flags, "releases-configmap") ?? "";
  const leaseNamespace = leaseNamespaceOf(stringFlag(flags, "lease-namespace"));
  const path = stringFlag(flags, "kubeconfig");
  const { config, namespace } = path === undefined ? await inClusterConfig() : await loadKubeconfig({ path });
  const tracing = await openTracing(settings, process.env, log);
  const metrics = createMetricsRegistry();
  showProcess(metrics);
  const kube = measuredTransport(createHttpsTransport(config), metrics, new URL(config.server).host);
  const keys = createX509Keys({ rsaPoolSize: numberFlag(flags, "rsa-pool") ?? 0 });
  const surroundings = { kube, namespace, isLocal: path !== undefined, log };
  const backups = openBackups(flags, settings.values, surroundings);
  const addons = openAddons(flags, settings.values.addonJob, surroundings);
  // A key takes about a second of processor time: made before the first cluster asks.
  keys.warm();
  const operator = startOperator({
    kube,
    keys,
    log,
    metrics,
    tracing,
    backups: backups.dependencies,
    addons: addons.dependencies,
    ...filesOf(settings.values),
    options: {
      ...compositionOptions(settings.values),
      allowLoopbackMachines: booleanFlag(flags, "allow-loopback-machines"),
      requireMaintenanceFingerprint: booleanFlag(flags, "require-maintenance-fingerprint"),
      ...(registries === undefined ? {} : { installerRegistries: registries }),
      ...podOf(settings.values),
      ...(releases === "" ? {} : { releases: { namespace, name: releases } }),
      leaderElection: booleanFlag(flags, "leader-elect")
        ? { namespace: leaseNamespace ?? namespace, ...(booleanFlag(flags, "fast-failover") ? FAST_LEASE : {}) }
        : false,
      identity: `${hostname()}-${process.pid}-${Buffer.from(systemRandom.bytes(4)).toString("hex")}`,
    },
  });
  let probes: { close(): Promise<void> } | undefined;
  try {
    probes = await startProbes(settings, { health: () => operator.health(), metrics, log });
    await Promise.race([untilAborted(context.signal), operator.done]);
  } finally {
    try {
      await operator.stop();
    } finally {
      await Promise.all([backups.close(), addons.close()]);
      await tracing?.close();
    }
    // Last: whoever asks during the shutdown still gets an answer.
    await probes?.close();
    keys.close();
    kube.close();
  }
}

/** The pod that this process runs in; a part of its name is none. */
function podOf({ podName: name, podNamespace: namespace, podUid: uid }: Settings["values"]): Partial<Pick<OperatorOptions, "pod">> {
  return name === "" || namespace === "" || uid === "" ? {} : { pod: { namespace, name, uid } };
}
