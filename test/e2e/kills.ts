import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { HANGS_AFTER_MS, KUBECTL_WAITS, ownAddress, tool } from "@talos-operator/adapters/testing";
import { must, run, startOurs, temporaryFolder, type Running } from "./processes.ts";

/** A little longer than a creation takes, so that moments before, during and after every step occur. */
const SPAN_MS = 5000;
const API = `${ownAddress()}:6443`;

/** How often each process is killed during a creation, at moments spread over it. */
export interface Kills {
  readonly manager: number;
  readonly api: number;
  readonly demo: number;
}

/** A test: the cluster becomes Ready, etcd is bootstrapped once, the bundle stays. */
interface Kill {
  readonly name: string;
  readonly play: () => Promise<void>;
}

export function killsDuringCreation({ manager, api, demo }: Kills): readonly Kill[] {
  return [
    ...moments(manager).map((moment) => ({
      name: `of the manager after ${moment} ms changes nothing in the end`,
      play: () => killOf((world) => world.restartManager(), moment),
    })),
    ...moments(api).map((moment) => ({
      name: `of the Kubernetes API after ${moment} ms changes nothing in the end`,
      play: () => killOf((world) => world.restartApi(), moment),
    })),
    ...moments(demo).map((moment) => ({
      name: `of the whole demo after ${moment} ms changes nothing in the end`,
      play: () => killDemo(moment),
    })),
  ];
}

async function killOf(restart: (world: World) => Promise<void>, moment: number): Promise<void> {
  await using world = await startWorld();
  await world.apply();
  await delay(moment);
  const before = await world.bundle();
  await restart(world);
  await world.isReady();
  await world.isSameCluster(before);
}

async function killDemo(moment: number): Promise<void> {
  using folder = temporaryFolder();
  const flags = ["demo", "--data-dir", folder.path, "--listen", API];
  const first = startOurs(...flags);
  await delay(500 + moment);
  await first.end("SIGKILL");
  const second = startOurs(...flags, "--exit-when-ready", "--timeout", String(HANGS_AFTER_MS / 1_000));
  assert.equal(await second.exited, 0, second.output());
  assert.equal(bootstraps(folder.path), 1);
}

interface World extends AsyncDisposable {
  apply(): Promise<void>;
  isReady(): Promise<void>;
  /** Hash of the bundle's content, `undefined` while there is none. */
  bundle(): Promise<string | undefined>;
  isSameCluster(before: string | undefined): Promise<void>;
  restartManager(): Promise<void>;
  restartApi(): Promise<void>;
}

async function startWorld(): Promise<World> {
  const folder = temporaryFolder();
  const apiFolder = join(folder.path, "api");
  const machines = join(folder.path, "machines");
  const kubeconfig = join(apiFolder, "kubeconfig");
  const startApi = async (): Promise<Running> => {
    const api = startOurs("apiserver", "--data-dir", apiFolder, "--listen", API);
    await api.says(/Kubernetes API at/);
    return api;
  };
  const startManager = (): Running =>
    startOurs("manager", "--kubeconfig", kubeconfig, "--allow-loopback-machines", "--fast-failover", "--log-level", "warn");
  let api = await startApi();
  const simulator = startOurs("simulator", "--data-dir", machines);
  await simulator.says(/machines wait/);
  let manager = startManager();
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", kubeconfig, ...args]);

  const bundle = async (): Promise<string | undefined> => {
    const names = await run(tool("kubectl"), ["--kubeconfig", kubeconfig, "get", "secrets", "-o", "name"]);
    const name = /secret\/\S+-bundle-\d+/.exec(names.stdout)?.[0];
    if (name === undefined) return undefined;
    assert.equal(names.stdout.match(/-bundle-\d+/g)?.length, 1, "one bundle only");
    return createHash("sha256")
      .update(await kubectl("get", name, "-o", "jsonpath={.data}"))
      .digest("hex");
  };
  return {
    apply: async () => void (await kubectl("apply", "-f", "examples/first-cluster/cluster.yaml")),
    isReady: async () => void (await kubectl("wait", "--for=condition=Ready", "talosclusters", "--all", KUBECTL_WAITS)),
    bundle,
    async isSameCluster(before) {
      const after = await bundle();
      assert.notEqual(after, undefined);
      if (before !== undefined) assert.equal(after, before);
      assert.equal(bootstraps(machines), 1, "etcd was bootstrapped once");
    },
    async restartManager() {
      await manager.end("SIGKILL");
      manager = startManager();
    },
    async restartApi() {
      await api.end("SIGKILL");
      api = await startApi();
    },
    async [Symbol.asyncDispose]() {
      await manager.end("SIGKILL");
      await simulator.end("SIGKILL");
      await api.end("SIGKILL");
      folder[Symbol.dispose]();
    },
  };
}

/** How often etcd was bootstrapped on the simulated machines whose state is in this folder. */
function bootstraps(folder: string): number {
  return readdirSync(join(folder, "etcd")).filter((name) => name.endsWith(".json")).length;
}

/** Spread evenly, each moved by chance inside its share. */
function moments(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => Math.round(((index + Math.random()) * SPAN_MS) / count));
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
