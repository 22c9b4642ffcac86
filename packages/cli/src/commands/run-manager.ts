import { createX509Keys, systemRandom, systemTimers } from "@talos-operator/adapters";
import { isDnsLabel } from "@talos-operator/api";
import { createKubeClient, createMetricsRegistry, measuredTransport } from "@talos-operator/kube-runtime";
import { createHttpsTransport, inClusterConfig, loadKubeconfig, showProcess } from "@talos-operator/kube-runtime/https";
import { createBackupJobRunner } from "@talos-operator/operator";
import type { KubeTransport, Logger } from "@talos-operator/ports";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "../cli-error.ts";
import { commaSeparated } from "../comma-separated.ts";
import { booleanFlag, givenString, numberFlag, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { compositionOptions, filesOf } from "../process/composition-settings.ts";
import { openLocalBackups, type LocalBackups } from "../process/local-backups.ts";
import { startOperator } from "../process/operator-process.ts";
import { openLog } from "../process/operator-log.ts";
import { startProbes } from "../process/probes.ts";
import { openTracing } from "../process/tracing.ts";
import { untilAborted } from "../process/until-aborted.ts";
import type { BackupJobSettings } from "../settings/backup-job.ts";
import { readSettings } from "../settings/read-settings.ts";

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

/** Jobs where BACKUP_JOB says what they are made of; child processes on a machine that is no pod; else none, and backups say so. */
function openBackups(flags: FlagValues, job: BackupJobSettings | undefined, { kube, namespace, isLocal, log }: Surroundings): LocalBackups {
  if (job === undefined && isLocal) {
    const runs = mkdtempSync(join(tmpdir(), "talos-operator-runs-"));
    const local = openLocalBackups(flags, { runs, log });
    return {
      dependencies: local.dependencies,
      async close() {
        await local.close();
        rmSync(runs, { recursive: true, force: true });
      },
    };
  }
  const backupDirectory = givenString(flags, "backup-directory");
  const folder = backupDirectory === undefined ? {} : { backupDirectory };
  const client = createKubeClient(kube, { timers: systemTimers, random: systemRandom });
  return {
    dependencies: {
      allowInsecureObjectStorage: booleanFlag(flags, "allow-insecure-object-storage"),
      ...folder,
      ...(job === undefined ? {} : { runner: createBackupJobRunner({ client, namespace, settings: job, ...folder }) }),
    },
    close: () => Promise.resolve(),
  };
}

export async function runManager(flags: FlagValues, context: CommandContext): Promise<void> {
  const settings = readSettings(flags, process.env);
  const log = openLog(settings);
  const registries = registriesOf(stringFlag(flags, "installer-registries"));
  const leaseNamespace = leaseNamespaceOf(stringFlag(flags, "lease-namespace"));
  const path = stringFlag(flags, "kubeconfig");
  const { config, namespace } = path === undefined ? await inClusterConfig() : await loadKubeconfig({ path });
  const tracing = await openTracing(settings, process.env, log);
  const metrics = createMetricsRegistry();
  showProcess(metrics);
  const kube = measuredTransport(createHttpsTransport(config), metrics, new URL(config.server).host);
  const keys = createX509Keys({ rsaPoolSize: numberFlag(flags, "rsa-pool") ?? 0 });
  const backups = openBackups(flags, settings.values.backupJob, { kube, namespace, isLocal: path !== undefined, log });
  // A key takes about a second of processor time: made before the first cluster asks.
  keys.warm();
  const operator = startOperator({
    kube,
    keys,
    log,
    metrics,
    tracing,
    backups: backups.dependencies,
    ...filesOf(settings.values),
    options: {
      ...compositionOptions(settings.values),
      allowLoopbackMachines: booleanFlag(flags, "allow-loopback-machines"),
      requireMaintenanceFingerprint: booleanFlag(flags, "require-maintenance-fingerprint"),
      ...(registries === undefined ? {} : { installerRegistries: registries }),
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
      await backups.close();
      await tracing?.close();
    }
    // Last: whoever asks during the shutdown still gets an answer.
    await probes?.close();
    keys.close();
    kube.close();
  }
}
