import { memoryScratch, simulatedCodec } from "@talos-operator/backup/testing";
import { runTask } from "@talos-operator/backup/worker";
import type { BackupRunner, RunRequest, RunState } from "@talos-operator/operator";
import type { Clock, Logger, ObjectStore, RandomSource, TalosDialer, Timers } from "@talos-operator/ports";

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** What the workers of a {@link createWorkingRunner} have. */
export interface WorkingRunnerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly dialer: TalosDialer;
  readonly store: ObjectStore;
}

/** A runner whose workers do their work, in this process. It outlives operators, as a Job does. */
export interface WorkingRunner extends BackupRunner {
  /** Every run that was begun, in order. */
  readonly begun: RunRequest[];
  /** While set, a run that is started does not begin its work; the end of it lets those go on that wait. */
  hold(isHeld: boolean): void;
}

export function createWorkingRunner(ports: WorkingRunnerPorts): WorkingRunner {
  const runs = new Map<string, { readonly request: RunRequest; state: RunState }>();
  const begun: RunRequest[] = [];
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const work = (name: string, { task, secrets }: RunRequest): void => {
    const { clock, timers, random, dialer, store } = ports;
    const deps = { dialer, openStore: () => store, codec: simulatedCodec, scratch: memoryScratch(), clock, timers, random, log: silent };
    void runTask(task, secrets, deps).then((result) => {
      const run = runs.get(name);
      if (run !== undefined) run.state = { kind: "ended", result, at: clock.now() };
    });
  };
  return {
    begun,
    hold(held) {
      isHeld = held;
      if (!held) for (const go of waiting.splice(0)) go();
    },
    start: async (request) => {
      const { name } = request;
      if (runs.has(name)) return;
      begun.push(request);
      runs.set(name, { request, state: { kind: "running", since: ports.clock.now() } });
      if (isHeld) waiting.push(() => work(name, request));
      else work(name, request);
    },
    look: async (name) => runs.get(name)?.state ?? { kind: "absent" },
    remove: async (name) => void runs.delete(name),
    list: async () => [...runs].map(([name, { request, state }]) => ({ name, owner: request.owner, hasEnded: state.kind === "ended" })),
  };
}
