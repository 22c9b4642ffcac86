import { setTimeout as delay } from "node:timers/promises";
import { leaseType, type KubeObject } from "@talos-operator/kube-runtime";
import { clusterObject } from "./clusters.ts";
import { editCluster } from "./edits.ts";
import { figuresOf, inSeconds } from "./figures.ts";
import { createPartition } from "./partition.ts";
import type { BenchProcess } from "./process.ts";
import { FLEET_SHAPE, spareOf, startFleetWorld, untilQuiet, type FleetOptions } from "./ready-fleet.ts";
import { line } from "./report.ts";
import type { BenchWorld } from "./world.ts";

/** How long the old leader sleeps. */
const STOPPED_MS = 60_000;
const GIVE_UP_MS = 60_000;
/** Clusters of the fleet; each gives its spare machine to one join. */
const CLUSTERS = 200;

/**
 * B4: two replicas with the fast lease. From what befalls the leader until a machine whose joining was asked for in that moment has its configuration;
 * beside it, how long such a join takes while nothing happens. A machine that is configured twice is a doubled effect.
 */
export async function benchFailover(repeats: number, options: FleetOptions): Promise<void> {
  const partition = await createPartition();
  try {
    await using world = await startFleetWorld(CLUSTERS, {
      ...options,
      kubeconfigOf: (kubeconfig) => partition.kubeconfigOf(kubeconfig),
      managerFlags: ["--fast-failover"],
    });
    const replicas = [world.operator, await world.startReplica()];
    await untilQuiet(world);
    const joins = new Joins(world);
    const leader = (): Promise<BenchProcess> => leaderOf(world, replicas);
    process.stdout.write(
      `failover of two replicas with ${CLUSTERS} clusters (3 + 2) and the fast lease, from the event to the next join\n`,
    );
    const say = (what: string, times: readonly number[]): void => void process.stdout.write(`${line(what, inSeconds(figuresOf(times)))}\n`);

    say("a join while nothing happens", await series(repeats, () => joins.timed()));

    // The first replica leads, through the partition.
    partition.cut();
    const cutOff = await joins.timed();
    await joins.several(3);
    partition.heal();
    await joins.several(5);
    say("(iv) leader cut off from the API", [cutOff]);

    await untilQuiet({ operator: await leader() });
    const stopped = await leader();
    const stoppedAt = performance.now();
    stopped.signal("SIGSTOP");
    const asleep = await joins.timed();
    await joins.several(3);
    await delay(Math.max(0, STOPPED_MS - (performance.now() - stoppedAt)));
    stopped.signal("SIGCONT");
    await joins.several(5);
    say(`(iii) leader stopped for ${STOPPED_MS / 1000} s and resumed`, [asleep]);

    await untilQuiet({ operator: await leader() });
    for (const [what, signal] of [
      ["(i) SIGTERM", "SIGTERM"],
      ["(ii) SIGKILL", "SIGKILL"],
    ] as const)
      say(
        what,
        await series(repeats, async () => {
          const old = await leader();
          old.signal(signal);
          const time = await joins.timed();
          await old.gone;
          replicas.splice(replicas.indexOf(old), 1, await world.startReplica());
          // A standby is warm when its caches are complete, and a leader when it has looked at everything.
          await untilQuiet({ operator: await leader() });
          return time;
        }),
      );
    process.stdout.write(`${line("machines configured twice, of all that joined", `${joins.doubled()} of ${joins.count()}`)}\n`);
  } finally {
    partition.close();
  }
}

async function series(repeats: number, measure: () => Promise<number>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let index = 0; index < repeats; index += 1) times.push(await measure());
  return times;
}

/** Machines that join, one of each cluster. */
class Joins {
  readonly #world: BenchWorld;
  #next = 0;

  constructor(world: BenchWorld) {
    this.#world = world;
  }

  /** Asks for one now. @returns milliseconds until its machine had the configuration */
  async timed(): Promise<number> {
    const begunAt = Date.now();
    const machine = await this.#ask();
    for (;;) {
      const call = this.#configured(machine)[0];
      if (call !== undefined) return call.at - begunAt;
      if (Date.now() - begunAt > GIVE_UP_MS) return Number.POSITIVE_INFINITY;
      await delay(50);
    }
  }

  /** One after the other. */
  async several(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await this.timed();
  }

  count(): number {
    return this.#next;
  }

  doubled(): number {
    return Array.from({ length: this.#next }, (_, index) => this.#configured(spareOf(CLUSTERS, index)).length).filter((times) => times > 1)
      .length;
  }

  async #ask(): Promise<string> {
    const index = this.#next;
    if (index >= CLUSTERS) throw new Error("no spare machine is left: ask for fewer repeats");
    this.#next += 1;
    const { spec } = clusterObject(index, FLEET_SHAPE) as unknown as {
      readonly spec: { readonly worker: { readonly metalSpec: { readonly machines: readonly object[] } } };
    };
    const spare = spareOf(CLUSTERS, index);
    await editCluster(this.#world, index, { worker: { metalSpec: { machines: [...spec.worker.metalSpec.machines, { address: spare }] } } });
    return spare;
  }

  #configured(machine: string): readonly { readonly at: number }[] {
    return this.#world.calls().filter((call) => call.machine === machine && call.path.endsWith("/ApplyConfiguration") && call.code === 0);
  }
}

async function leaderOf(world: BenchWorld, replicas: readonly BenchProcess[]): Promise<BenchProcess> {
  const lease = await world.client
    .resource<KubeObject & { readonly spec?: { readonly holderIdentity?: string } }>(leaseType)
    .get({ namespace: "default", name: "ffa5cb32.alperen.cloud" });
  const found = replicas.find(({ pid }) => lease.spec?.holderIdentity?.includes(`-${pid}-`) === true);
  if (found === undefined) throw new Error("nobody leads");
  return found;
}
