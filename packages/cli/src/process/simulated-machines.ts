import { readdirSync } from "node:fs";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import type { Keys, Logger } from "@talos-operator/ports";
import {
  createDatacenter,
  type CallEvent,
  demoTimings,
  genuineTimings,
  instantTimings,
  type Datacenter,
  type DatacenterChange,
  type DatacenterSnapshot,
  type MachineSpec,
  SimulatorError,
} from "@talos-operator/simulator";
import { serveDatacenter } from "@talos-operator/simulator/grpc";
import { CliError, errorCode } from "../cli-error.ts";
import { breakVersion } from "./broken-version.ts";
import type { DataFolder } from "./data-folder.ts";
import { requireBindable } from "./loopback.ts";
import { createEmbeddedWorkloads, type SimulatedEndpoints } from "./workload-api.ts";

const BOOT_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 20;

export interface SimulatedMachinesOptions {
  /** `undefined` keeps nothing. */
  readonly folder: DataFolder | undefined;
  readonly addresses: readonly string[];
  /** `v1.13.9` */
  readonly talosVersion: string;
  /** A version that boots and never gets healthy, with `v`. */
  readonly brokenVersion?: string;
  readonly pace: Pace;
  /** Power on until the API answers; default that of the pace. */
  readonly bootMs?: number;
  readonly keys: Keys;
  readonly log: Logger;
  /** Every call, when it arrives and when it was answered. */
  readonly onCall?: (event: CallEvent) => void;
}

/** How fast machines are: `demo` can be watched, `genuine` takes as long as genuine nodes in containers, `instant` answers at once (benchmarks). */
export type Pace = keyof typeof paces;

const paces = { demo: demoTimings, genuine: genuineTimings, instant: instantTimings };

export function isPace(word: string): word is Pace {
  return Object.hasOwn(paces, word);
}

export interface SimulatedMachines {
  readonly datacenter: Datacenter;
  readonly endpoints: SimulatedEndpoints;
  close(): Promise<void>;
}

/** Starts simulated machines, each with a gRPC server on its own loopback address. State is on disk before a machine answers the call that changed it. */
export async function startSimulatedMachines(options: SimulatedMachinesOptions): Promise<SimulatedMachines> {
  await requireBindable(options.addresses);
  const { folder } = options;
  const workload = createEmbeddedWorkloads(options.log, (key) => datacenter.etcdDatabase(key), folder);
  const pace = paces[options.pace];
  const snapshot = folder === undefined ? undefined : readSnapshot(folder);
  const datacenter: Datacenter = createDatacenter({
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    keys: options.keys,
    machines: options.addresses.map((address): MachineSpec => ({ address, talosVersion: options.talosVersion })),
    timings: { ...pace, bootMs: options.bootMs ?? pace.bootMs },
    workload,
    ...(options.onCall === undefined ? {} : { onCall: options.onCall }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(folder === undefined ? {} : { onChange: (change) => writeChange(folder, change) }),
  });
  try {
    if (options.brokenVersion !== undefined) breakVersion(datacenter, options.brokenVersion);
    const servers = await serveDatacenter(datacenter, {
      onError: (error) => options.log.error({ err: error, code: error.code }, "A simulated machine cannot listen"),
    });
    // What was shut down is switched on again: nobody walks through this datacenter.
    for (const machine of datacenter.machines()) if (machine.state.power === "off") machine.powerOn();
    await untilBooted(datacenter);
    return {
      datacenter,
      endpoints: workload,
      async close() {
        await servers.close();
        await datacenter.close();
        await workload.close();
      },
    };
  } catch (error) {
    await datacenter.close();
    await workload.close();
    if (error instanceof SimulatorError && error.code === "CANNOT_LISTEN") {
      throw new CliError(
        `a simulated machine cannot start: ${error.message}`,
        "Another demo or simulator runs on this machine: stop it first, or start this one with another --first-address.",
        { cause: error },
      );
    }
    throw error;
  }
}

/** Waits for the first boot, so that nobody meets a machine which does not answer yet. A boot that takes longer is watched like any other. */
async function untilBooted(datacenter: Datacenter): Promise<void> {
  const latest = systemClock.now() + BOOT_WITHIN_MS;
  const isBooting = (): boolean => datacenter.machines().some(({ state }) => state.power === "on" && state.api.kind === "down");
  while (isBooting() && systemClock.now() < latest) await systemTimers.sleep(LOOK_EVERY_MS);
}

function writeChange(folder: DataFolder, change: DatacenterChange): void {
  try {
    if (change.kind === "machine") folder.write(JSON.stringify(change.machine), "machines", `${change.machine.hardware.address}.json`);
    else folder.write(JSON.stringify(change.cluster), "etcd", `${change.cluster.key}.json`);
  } catch (error) {
    // A machine that forgets what it was told must not go on: the process ends with this error, whoever made the change.
    queueMicrotask(() => {
      throw error;
    });
    throw error;
  }
}

function readSnapshot(folder: DataFolder): DatacenterSnapshot {
  const all = <T>(name: string): T[] => jsonFiles(folder, name).map((file) => JSON.parse(folder.read(name, file) ?? "null") as T);
  return { version: 1, machines: all("machines"), etcdClusters: all("etcd") };
}

function jsonFiles(folder: DataFolder, name: string): readonly string[] {
  try {
    return readdirSync(folder.file(name))
      .filter((file) => file.endsWith(".json"))
      .toSorted();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
