import { createWriteStream, type WriteStream } from "node:fs";
import { createLogger, createX509Keys, systemClock, systemTimers } from "@talos-operator/adapters";
import { booleanFlag, numberFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { waitingLines, type Picture } from "../live/picture.ts";
import { createScreen } from "../live/screen.ts";
import { seconds } from "../live/render.ts";
import { writeAccessFiles, type AccessFiles } from "../process/access-files.ts";
import type { NamedObject } from "../process/apply-object.ts";
import { lockFolder } from "../process/lock-folder.ts";
import { openDataFolder, unusable, type DataFolder } from "../process/data-folder.ts";
import { exampleManifest } from "../process/example.ts";
import { readListen } from "../process/listen.ts";
import { isLoopback, requireBindable, simulatedAddress } from "../process/loopback.ts";
import { machineAddresses, readManifest } from "../process/manifest.ts";
import { createNodeCheck } from "../process/node-check.ts";
import { followRollout, GOAL_KINDS, takePicture, type RolloutOptions } from "../process/rollout.ts";
import { startProvidedMachines } from "../process/provided-machines.ts";
import { startSimulatedMachines } from "../process/simulated-machines.ts";
import { startStandalone, type StandaloneProcess } from "../process/standalone-process.ts";
import { untilAborted } from "../process/until-aborted.ts";
import { readSettings } from "../settings/read-settings.ts";

/** Runs the demo until it is Ready (with `--exit-when-ready`) or until it is stopped. */
export async function runDemo(flags: FlagValues, context: CommandContext): Promise<void> {
  const begunAt = systemClock.now();
  // Before anything is written: whatever the command line and the environment say wrongly.
  const compositions = readSettings({}, process.env).values;
  const listen = readListen(flags, context);
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
    destination: logFile(folder, persist),
  });
  const keys = createX509Keys({ rsaPoolSize: 1 });
  // The service account's RSA key takes a second to find: begun now, it is there when the first cluster asks for it.
  keys.warm();

  const standalone = await startStandalone({
    folder,
    persist,
    durability: "process-crash",
    listen,
    keys,
    log,
    compositions,
    startSurroundings: async (client) => {
      const talosVersion = requiredString(flags, "talos-version");
      const machines = await startSimulatedMachines({
        folder: persist ? folder : undefined,
        addresses,
        talosVersion,
        pace: "demo",
        keys,
        log,
      });
      const provider = startProvidedMachines({ client, datacenter: machines.datacenter, talosVersion, named, log });
      return {
        async close() {
          await provider.close();
          await machines.close();
        },
      };
    },
  });
  try {
    const applied = await standalone.apply(objects);
    const elapsedMs = (): number => systemClock.now() - begunAt;
    const screen = createScreen(context.stderr, process.env);
    await waitUntilReady({ flags, context, standalone, applied, addresses, show: (picture) => screen.show(picture, elapsedMs()) });
    screen.finish([`\nReady after ${seconds(elapsedMs())}.`]);
    context.stdout.write(`${summary(standalone, await accessFiles(standalone, folder, applied))}\n`);
    if (booleanFlag(flags, "exit-when-ready")) return;
    context.stderr.write("Ctrl-C stops it; the next start goes on where this one ends.\n");
    await Promise.race([untilAborted(context.signal), standalone.operator.done]);
  } finally {
    await standalone.close();
    keys.close();
    lock?.close();
  }
}

/** The demo's log. When it cannot be written (the disk is full), the state cannot either: that ends the demo, with a word about it. */
function logFile(folder: DataFolder, persist: boolean): WriteStream {
  const stream = createWriteStream(folder.file("demo.log"), { flags: persist ? "a" : "w", mode: 0o600 });
  return stream.on("error", (error) => {
    throw unusable(folder.path, error);
  });
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

interface Wait {
  readonly flags: FlagValues;
  readonly context: CommandContext;
  readonly standalone: StandaloneProcess;
  readonly applied: readonly NamedObject[];
  readonly addresses: readonly string[];
  readonly show: (picture: Picture) => void;
}

async function waitUntilReady({ flags, context, standalone, applied, addresses, show }: Wait): Promise<void> {
  const timeoutSeconds = numberFlag(flags, "timeout");
  let last: Picture | undefined;
  const giveUp = new AbortController();
  const timer =
    timeoutSeconds === undefined ? undefined : systemTimers.schedule(timeoutSeconds * 1000, () => giveUp.abort(new Error("time is up")));
  const nodes = createNodeCheck(standalone.client);
  const options: RolloutOptions = {
    client: standalone.client,
    nodes,
    timers: systemTimers,
    applied,
    addresses,
    show: (picture) => {
      last = picture;
      show(picture);
    },
  };
  const rollout = followRollout(options, AbortSignal.any([giveUp.signal, context.signal]));
  try {
    await Promise.race([rollout, standalone.operator.done.then(() => Promise.reject(new Error("the operator stopped")))]);
  } catch (error) {
    if (!giveUp.signal.aborted) throw error;
    const waiting = waitingLines(last ?? (await takePicture(options)));
    throw new CliError(
      `not Ready after ${timeoutSeconds} s; still waits for:\n${waiting.map((line) => `  - ${line}`).join("\n")}`,
      "Allow more time with --timeout, or look at demo.log in the data folder.",
      { exitCode: 3, cause: error },
    );
  } finally {
    timer?.cancel();
    nodes.close();
  }
}

async function accessFiles(
  standalone: StandaloneProcess,
  folder: ReturnType<typeof openDataFolder>,
  applied: readonly NamedObject[],
): Promise<readonly AccessFiles[]> {
  const owners = applied.filter(({ kind }) => kind === "KubernetesCluster" || kind === "TalosCluster" || kind === "TalosControlPlane");
  const files: AccessFiles[] = [];
  for (const owner of owners) {
    const written = await writeAccessFiles(standalone.client, folder, owner);
    if (written !== undefined) files.push(written);
  }
  return files;
}

function summary(standalone: StandaloneProcess, files: readonly AccessFiles[]): string {
  const lines = [
    "",
    "The operator's Kubernetes API:",
    `  export KUBECONFIG=${standalone.api.kubeconfigPath}`,
    "  kubectl get talosclusters,taloscontrolplanes,talosworkers,talosmachines",
    "  kubectl get kubernetesclusters,machines",
  ];
  for (const { cluster, kubeconfig, talosconfig } of files) {
    lines.push(
      "",
      `Cluster ${cluster}:`,
      `  kubectl --kubeconfig ${kubeconfig} get nodes -o wide`,
      `  talosctl --talosconfig ${talosconfig} get members`,
    );
  }
  return lines.join("\n");
}
