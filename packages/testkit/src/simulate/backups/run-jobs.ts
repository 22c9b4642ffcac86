import type { BackupRunner, BackupRunRequest, BackupRunState } from "@talos-operator/operator";
import type { Clock } from "@talos-operator/ports";
import type { JudgedCluster } from "../backup-rules.ts";
import { never, type Life } from "../life.ts";
import type { Worker, Workers } from "./workers.ts";

/** Runs in one world. They outlive operators, as Jobs do. */
export interface RunJobs {
  /** As one operator sees them: what it asks once it is dead has no effect, and it hears nothing. */
  runnerFor(life: Life): BackupRunner;
  /** Names of runs that nobody removed yet. */
  names(): readonly string[];
}

export interface RunJobsInput {
  readonly workers: Workers;
  readonly clock: Clock;
  readonly clusterOf: (run: BackupRunRequest) => JudgedCluster;
  /** A run is about to begin beside so many that go on. */
  readonly onStart: (run: BackupRunRequest, going: readonly BackupRunRequest[]) => void;
}

interface Kept {
  readonly run: BackupRunRequest;
  readonly worker: Worker;
  readonly since: number;
}

export function createRunJobs({ workers, clock, clusterOf, onStart }: RunJobsInput): RunJobs {
  const kept = new Map<string, Kept>();
  const stateOf = (name: string): BackupRunState => {
    const one = kept.get(name);
    if (one === undefined) return { kind: "absent" };
    return one.worker.isOver() ? { kind: "ended", result: one.worker.result(), at: clock.now() } : { kind: "running", since: one.since };
  };
  const start = (run: BackupRunRequest): void => {
    if (kept.has(run.name)) return;
    const going = [...kept.values()].filter(({ worker }) => !worker.isOver());
    onStart(
      run,
      going.map((one) => one.run),
    );
    kept.set(run.name, { run, worker: workers.start(clusterOf(run), run.task, run.secrets), since: clock.now() });
  };
  const remove = (name: string): void => {
    kept.get(name)?.worker.life.crash();
    kept.delete(name);
  };
  return {
    runnerFor(life) {
      const asked = async <T>(act: () => T): Promise<T> => {
        await life.awake();
        return life.maySend() ? life.deliver(act()) : never();
      };
      return {
        start: (run) => asked(() => start(run)),
        look: (name) => asked(() => stateOf(name)),
        remove: (name) => asked(() => remove(name)),
        list: () =>
          asked(() => [...kept.values()].map(({ run, worker }) => ({ name: run.name, owner: run.owner, hasEnded: worker.isOver() }))),
      };
    },
    names: () => [...kept.keys()],
  };
}
