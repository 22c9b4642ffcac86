import { availableParallelism, loadavg } from "node:os";
import { setImmediate as turn } from "node:timers/promises";
import { LargeCluster } from "@talos-operator/operator/testing";
import { figuresOf } from "./figures.ts";
import { line } from "./report.ts";

/** Passes that are counted together: a kernel may count the time of a thread by ticks, and a pass over 100 machines is shorter than one. */
const TOGETHER = 10;

/** How often each size is counted, after as many times that are not. */
const ROUNDS = 8;

/** What the figures of one cluster of 1,000 workers must keep to. Milliseconds, and a plain number. */
const BOUNDS = { settledPassMs: 10, longestBlockMs: 50, ratioTo100: 15 } as const;

/** On a machine that does other work the times may be so many times as long: whoever shares its caches and cores costs processor time, too. */
const WHEN_BUSY = 3;

/** The figures of one run. */
export interface LargeFigures {
  readonly workers: number;
  /** Median of a pass over a cluster that is left alone. */
  readonly settledPassMs: number;
  /** The longest pass while half of the workers leave at once. */
  readonly longestBlockMs: number;
  /** What is sent to write down the wipe of one worker. */
  readonly bytesPerIntent: number;
  /** `settledPassMs` over that of 100 workers. */
  readonly ratioTo100: number;
}

/** What is missed, in words; empty = nothing. @param isBusy the machine does other work */
export function missedBounds({ settledPassMs, longestBlockMs, ratioTo100 }: LargeFigures, isBusy: boolean): readonly string[] {
  const factor = isBusy ? WHEN_BUSY : 1;
  const bounds = [
    { name: "settledPassMs", is: settledPassMs, most: BOUNDS.settledPassMs * factor },
    { name: "longestBlockMs", is: longestBlockMs, most: BOUNDS.longestBlockMs * factor },
    { name: "ratioTo100", is: ratioTo100, most: BOUNDS.ratioTo100 },
  ];
  return bounds.flatMap(({ name, is, most }) => (is <= most ? [] : [`${name} is ${is.toFixed(1)}, and ${most} is the most`]));
}

/**
 * What a pass over one large cluster costs, in this process and without any network: the operator's own observing, concluding, deciding and telling, with looks,
 * objects and record in memory. Times are processor time of the thread.
 *
 * @returns false when a bound is missed
 */
export async function benchLarge(workers: number, asJson: boolean): Promise<boolean> {
  const [small, large] = [new LargeCluster(100), new LargeCluster(workers)];
  const smallPasses: number[] = [];
  const largePasses: number[] = [];
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    // In turns, so that what else the machine does meets both.
    const [ofSmall, ofLarge] = [await passMs(small), await passMs(large)];
    if (round < ROUNDS) continue;
    smallPasses.push(ofSmall);
    largePasses.push(ofLarge);
  }
  const settledPassMs = figuresOf(largePasses).p50;
  const figures: LargeFigures = {
    workers,
    settledPassMs,
    longestBlockMs: await longestBlock(workers),
    bytesPerIntent: await bytesOfIntent(large),
    ratioTo100: settledPassMs / figuresOf(smallPasses).p50,
  };
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  const isBusy = load > cores;
  const missed = missedBounds(figures, isBusy);
  const machine = { isBusy, load: Number(load.toFixed(1)), cores };
  process.stdout.write(asJson ? `${JSON.stringify({ ...figures, ...machine, missed })}\n` : text(figures, machine, missed));
  return missed.length === 0;
}

function text(
  { workers, settledPassMs, longestBlockMs, bytesPerIntent, ratioTo100 }: LargeFigures,
  { isBusy, load, cores }: { readonly isBusy: boolean; readonly load: number; readonly cores: number },
  missed: readonly string[],
): string {
  const busy = isBusy ? `busy: the times may be ${WHEN_BUSY} times as long` : "quiet";
  return [
    `one cluster of 3 control planes and ${workers} workers; processor time of passes in one process, without any network`,
    line("settledPassMs, nobody touches it", settledPassMs.toFixed(1)),
    line("longestBlockMs, half of its workers leave", longestBlockMs.toFixed(1)),
    line("bytesPerIntent, written for one wipe", String(bytesPerIntent)),
    line("ratioTo100, of settledPassMs to 100 workers", ratioTo100.toFixed(1)),
    line("the machine", `${busy} (load average ${load} on ${cores} cores)`),
    ...missed.map((one) => `MISSED: ${one}`),
    "",
  ].join("\n");
}

/** The longest pass of a scale-down, on a cluster of which an operator has seen one before: nothing is compiled meanwhile. */
async function longestBlock(workers: number): Promise<number> {
  let longest = 0;
  for (let round = 0; round < 2; round += 1) {
    const cluster = new LargeCluster(workers);
    await cluster.settle();
    cluster.unlist(Math.ceil(workers / 2));
    longest = 0;
    for (let isDone = false; !isDone;) {
      const before = process.threadCpuUsage();
      isDone = (await cluster.pass()).decision.actions.length === 0;
      longest = Math.max(longest, msSince(before));
      await turn();
    }
  }
  return longest;
}

/** One worker leaves: it is drained, and then its wipe is written down. */
async function bytesOfIntent(cluster: LargeCluster): Promise<number> {
  cluster.unlist(1);
  for (;;) {
    const { actions } = (await cluster.pass()).decision;
    if (actions.some(({ kind }) => kind === "WriteRecord")) return cluster.recordBytes();
    if (actions.length === 0) throw new Error("the worker does not leave");
  }
}

async function passMs(cluster: LargeCluster): Promise<number> {
  const before = process.threadCpuUsage();
  for (let count = 0; count < TOGETHER; count += 1) await cluster.pass();
  const ms = msSince(before) / TOGETHER;
  await turn();
  return ms;
}

function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
