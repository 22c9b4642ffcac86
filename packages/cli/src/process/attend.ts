import { seconds, timeOfDay } from "../live/times.ts";
import type { Screen } from "../live/screen.ts";
import type { Clock, Timers } from "@talos-operator/ports";
import { CliError } from "../cli-error.ts";
import type { RecentEvents } from "./recent-events.ts";
import { GOAL_KINDS, lookAtClusters, spareAddresses, waitingLines, type ClusterLook, type ClusterLookOptions } from "./look-at-clusters.ts";
import { untilAborted } from "./until-aborted.ts";

/** While clusters are made. */
const LOOK_EVERY_MS = 100;
/** Afterwards: what people do next is seen soon enough. */
const WATCH_EVERY_MS = 1_000;

export interface AttendOptions extends ClusterLookOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly screen: Screen;
  readonly events: RecentEvents;
  /** When the command began, milliseconds since the epoch. */
  readonly begunAt: number;
  /** Simulated machines, to show those that no object names. */
  readonly addresses?: readonly string[];
  /** Time for the first Ready, in seconds. */
  readonly timeoutSeconds?: number | undefined;
  /** Called at each look, for what is to be kept up to date. */
  readonly onLook?: (wasReady: boolean) => Promise<void>;
  /** Called once, when everything is Ready for the first time; `leave` ends it. */
  readonly onReady: (look: ClusterLook) => Promise<"stay" | "leave">;
}

/**
 * Shows clusters as they are made, and what becomes of them afterwards.
 *
 * @returns whether they were Ready once, when `signal` aborts or `onReady` says to leave
 * @throws CliError with exit code 3 when they are not Ready in time
 */
export async function attendClusters(options: AttendOptions, signal: AbortSignal): Promise<boolean> {
  const { clock, timers, timeoutSeconds, begunAt } = options;
  let wasReady = false;
  while (!signal.aborted) {
    const look = await lookAtClusters(options);
    await options.onLook?.(wasReady);
    const hasGoal = options.applied.some(({ kind }) => GOAL_KINDS.has(kind));
    await show(options, look, wasReady || look.isReady || !hasGoal);
    if (look.isReady && !wasReady) {
      wasReady = true;
      const isLeaving = (await options.onReady(look)) === "leave";
      await show(options, look, true);
      if (isLeaving) return true;
    }
    if (!wasReady && timeoutSeconds !== undefined && clock.now() - begunAt >= timeoutSeconds * 1000) {
      const waiting = waitingLines(look.trees, options.applied);
      throw new CliError(
        `not Ready after ${timeoutSeconds} s; still waits for:\n${waiting.map((line) => `  - ${line}`).join("\n")}`,
        "Allow more time with --timeout, or look at demo.log in the data folder.",
        { exitCode: 3 },
      );
    }
    await Promise.race([timers.sleep(wasReady ? WATCH_EVERY_MS : LOOK_EVERY_MS), untilAborted(signal)]);
  }
  return wasReady;
}

async function show(
  { clock, screen, events, begunAt, addresses = [] }: AttendOptions,
  { trees }: ClusterLook,
  isMade: boolean,
): Promise<void> {
  const elapsed = seconds(clock.now() - begunAt);
  const spare = spareAddresses(trees, addresses);
  screen.show({
    trees,
    at: timeOfDay(clock.now()),
    events: await events.read(),
    ...(isMade ? {} : { title: `Not Ready yet, ${elapsed}` }),
    ...(trees.length === 0 ? { title: "There is no cluster." } : {}),
    ...(spare.length === 0 ? {} : { beside: [`Spare machines: ${spare.join(", ")}`] }),
  });
}
