import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { HANGS_AFTER_MS, KUBECTL_WAITS, tool } from "@talos-operator/adapters/testing";
import { must, run, startOurs, temporaryFolder, type Running } from "./processes.ts";

/**
 * `kill -9` of real processes at moments spread over the creation of a cluster: it becomes Ready, etcd is bootstrapped once, the bundle stays.
 * What a crash inside one single call does is played in virtual time, with every effect; this shows that files, sockets and leases behave likewise.
 */
const MANAGER_KILLS = 20;
const API_KILLS = 10;
const DEMO_KILLS = 10;
/** A little longer than a creation takes, so that moments before, during and after every step occur. */
const SPAN_MS = 5000;
const API = "127.0.0.1:17443";

describe("kill -9 during a creation", { concurrency: false }, () => {
  for (const moment of moments(MANAGER_KILLS)) {
    it(`of the manager after ${moment} ms changes nothing in the end`, async () => {
      await using world = await startWorld();
      await world.apply();
      await delay(moment);
      const before = await world.bundle();
      await world.restartManager();
      await world.isReady();
      await world.isSameCluster(before);
    });
  }

  for (const moment of moments(API_KILLS)) {
    it(`of the Kubernetes API after ${moment} ms changes nothing in the end`, async () => {
      await using world = await startWorld();
      await world.apply();
      await delay(moment);
      const before = await world.bundle();
      await world.restartApi();
      await world.isReady();
      await world.isSameCluster(before);
    });
  }

  for (const moment of moments(DEMO_KILLS)) {
    it(`of the whole demo after ${moment} ms changes nothing in the end`, async () => {
      using folder = temporaryFolder();
      const flags = ["demo", "--data-dir", folder.path, "--listen", API];
      const first = startOurs(...flags);
      await delay(500 + moment);
      await first.end("SIGKILL");
      const second = startOurs(...flags, "--exit-when-ready", "--timeout", String(HANGS_AFTER_MS / 1_000));
      assert.equal(await second.exited, 0, second.output());
      assert.equal(foundings(folder.path), 1);
    });
  }
});

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
      assert.equal(foundings(machines), 1, "etcd was bootstrapped once");
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
function foundings(folder: string): number {
  return readdirSync(join(folder, "etcd")).filter((name) => name.endsWith(".json")).length;
}

/** Spread evenly, each moved by chance inside its share. */
function moments(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => Math.round(((index + Math.random()) * SPAN_MS) / count));
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
