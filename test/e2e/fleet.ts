import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KUBECTL_WAITS, startGenuineApi, tool, until } from "@talos-operator/adapters/testing";
import { clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { createKubeClient, leaseType, type KubeClient, type KubeObject } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { must, startOurs, temporaryFolder, type Running } from "./processes.ts";

/** A machine as the simulator keeps it on disk, as far as the story asks. */
interface MachineFile {
  readonly power: string;
  readonly config: { readonly active?: string };
  readonly services: Readonly<Record<string, { readonly state: string }>>;
  readonly etcd: { readonly data?: { readonly cluster: string; readonly memberId: string } };
}

/** An etcd as the simulator keeps it on disk. */
interface EtcdFile {
  readonly key: string;
  readonly members: readonly { readonly id: string; readonly peerUrl: string; readonly isLearner: boolean }[];
}

/** A genuine Kubernetes API, simulated machines, and two replicas of the operator. */
export interface Fleet extends AsyncDisposable {
  readonly client: KubeClient;
  kubectl(...args: string[]): Promise<string>;
  apply(...objects: readonly object[]): Promise<void>;
  record(name: string): Promise<ClusterRecord["spec"] | undefined>;
  machine(address: string): MachineFile;
  /** One for each founding. */
  etcds(): readonly EtcdFile[];
  /** Effects that machines accepted so far: `Reset 127.1.0.7`, in their order. */
  effects(...addresses: readonly string[]): readonly string[];
  /** Stops all machines in time, until the returned function is called. */
  holdMachines(): () => void;
  /** Ends the replica that holds the lease as the kernel would, and returns once the other one holds it. */
  killLeader(): Promise<void>;
  /** What the replicas logged, for a story that fails. */
  logs(): string;
}

export async function startFleet(machines: number, bootSeconds: number): Promise<Fleet> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const data = join(folder.path, "machines");
  const callLog = join(folder.path, "calls.jsonl");
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", api.kubeconfig, ...args]);
  const simulated = ["--machines", String(machines), "--boot-seconds", String(bootSeconds), "--call-log", callLog];
  const simulator = startOurs("simulator", "--data-dir", data, "--log-level", "warn", ...simulated);
  started.defer(async () => void (await simulator.end("SIGKILL")));
  // Only owners' garbage is collected: the one part of a Kubernetes that deletion leans on.
  const api = await startGenuineApi({ controllers: ["garbage-collector-controller"] });
  started.defer(() => api.stop());
  await kubectl("apply", "--server-side", "-f", "config/crd");
  await kubectl("wait", "--for=condition=Established", "crd", "--all", KUBECTL_WAITS);
  await simulator.says(/machines wait/);
  const noProbes = ["--health-probe-bind-address", "0", "--metrics-bind-address", "0"];
  const startReplica = (): Running =>
    startOurs("manager", "--kubeconfig", api.kubeconfig, "--allow-loopback-machines", "--fast-failover", ...noProbes);
  const replicas = [startReplica(), startReplica()];
  started.defer(async () => void (await Promise.all(replicas.map((one) => one.end("SIGKILL")))));
  const { config } = await loadKubeconfig({ path: api.kubeconfig });
  const transport = createHttpsTransport({ ...config, userAgent: "stories" });
  started.defer(() => transport.close());
  const client = createKubeClient(transport);
  const json = <T>(...path: readonly string[]): T => JSON.parse(readFileSync(join(data, ...path), "utf8")) as T;

  const leader = async (): Promise<Running | undefined> => {
    const lease = await client.resource<Lease>(leaseType).tryGet({ namespace: "default", name: "ffa5cb32.alperen.cloud" });
    const holder = lease?.spec?.holderIdentity ?? "";
    return replicas.find(({ pid }) => holder.includes(`-${pid}-`));
  };

  const rest = started.move();
  return {
    client,
    kubectl,
    async apply(...objects) {
      const file = join(folder.path, `apply-${performance.now()}.json`);
      writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
      await kubectl("apply", "-f", file);
    },
    record: async (name) => (await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace: "default", name }))?.spec,
    machine: (address) => json("machines", `${address}.json`),
    etcds: () =>
      readdirSync(join(data, "etcd"))
        .filter((name) => name.endsWith(".json"))
        .map((name) => json("etcd", name)),
    effects: (...addresses) =>
      // The last line may not be written to its end.
      readFileSync(callLog, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Call)
        .filter(({ machine, mutating, code }) => mutating && code === 0 && addresses.includes(machine))
        .map(({ path, machine }) => `${path.slice(path.lastIndexOf("/") + 1)} ${machine}`),
    holdMachines() {
      process.kill(simulator.pid, "SIGSTOP");
      return () => void process.kill(simulator.pid, "SIGCONT");
    },
    async killLeader() {
      const old = await leader();
      assert.ok(old !== undefined, "nobody leads");
      await old.end("SIGKILL");
      await until("the other replica leads", async () => {
        const now = await leader();
        return now !== undefined && now !== old;
      });
    },
    logs: () => replicas.map((replica) => replica.output().slice(-20_000)).join("\n=== the other replica\n"),
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

interface Lease extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string };
}

interface Call {
  readonly machine: string;
  readonly path: string;
  readonly mutating: boolean;
  readonly code: number;
}

const LOOK_EVERY_MS = 150;

/** Looks at the etcds with these machines again and again: a majority of the voters runs at every moment. `end` says when it did not. */
export function watchQuorum(fleet: Fleet, addresses: readonly string[]): { end(): void } {
  const losses = new Set<string>();
  const look = (): void => {
    const before = JSON.stringify(fleet.etcds());
    const machines = addresses.map((address) => fleet.machine(address));
    // What changed while the files were read says nothing.
    if (before !== JSON.stringify(fleet.etcds())) return;
    for (const { key, members } of JSON.parse(before) as readonly EtcdFile[]) {
      const voters = members.filter(({ isLearner }) => !isLearner);
      if (!voters.some(({ peerUrl }) => addresses.some((address) => peerUrl.includes(`//${address}:`)))) continue;
      const running = machines.filter(
        ({ power, services, etcd }) =>
          power === "on" &&
          services["etcd"]?.state === "Running" &&
          etcd.data?.cluster === key &&
          voters.some(({ id }) => id === etcd.data?.memberId),
      );
      if (running.length * 2 <= voters.length) losses.add(`${key}: ${running.length} of ${voters.length} voters run`);
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    end() {
      clearInterval(timer);
      assert.deepEqual([...losses], []);
    },
  };
}
