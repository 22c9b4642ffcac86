import { backupKeys } from "@talos-operator/backup";
import type { BackupRunner, BackupRunRequest, BackupRunState } from "@talos-operator/operator";
import type { Clock } from "@talos-operator/ports";

type Result = NonNullable<Extract<BackupRunState, { readonly kind: "ended" }>["result"]>;

/** A runner whose workers end when a test says so. It outlives operators, as a Job does. */
export interface ScriptedRunner extends BackupRunner {
  /** Every run that was begun, in order. */
  readonly begun: BackupRunRequest[];
  /** Keys that were given to runs that went on, in order. */
  readonly renewed: { readonly name: string; readonly store: NonNullable<BackupRunRequest["secrets"]["store"]> }[];
  /** Ends a run; without a result its worker died. */
  end(name: string, result?: Result): void;
}

export function createScriptedRunner(clock: Clock): ScriptedRunner {
  const runs = new Map<string, { readonly request: BackupRunRequest; state: BackupRunState }>();
  const begun: BackupRunRequest[] = [];
  const renewed: ScriptedRunner["renewed"] = [];
  return {
    begun,
    renewed,
    refresh: async (name, { store }) => void (runs.has(name) && store !== undefined && renewed.push({ name, store })),
    start: async (request) => {
      if (runs.has(request.name)) return;
      begun.push(request);
      runs.set(request.name, { request, state: { kind: "running", since: clock.now() } });
    },
    look: async (name) => runs.get(name)?.state ?? { kind: "absent" },
    remove: async (name) => void runs.delete(name),
    list: async () => [...runs].map(([name, { request, state }]) => ({ name, owner: request.owner, hasEnded: state.kind === "ended" })),
    end(name, result) {
      const run = runs.get(name);
      if (run === undefined) throw new RangeError(`no run ${name}`);
      run.state = { kind: "ended", result, at: clock.now() };
    },
  };
}

/** What a worker tells of a take that went well. */
export function takenBy({ task }: Pick<BackupRunRequest, "task">, now: number): Result {
  if (task.kind !== "take") throw new TypeError(`${task.kind} is no take`);
  const at = new Date(now).toISOString();
  const { slot, attempt, source } = task;
  const encryption = task.recipients.length > 0 ? "age" : "none";
  return {
    kind: "taken",
    found: false,
    proof: { how: "read", on: "writing", weakerBecause: "no-etcd" },
    facts: {
      slot,
      attempt,
      object: backupKeys(task.place.prefix, task.owner).data(slot, attempt, encryption),
      startedAt: at,
      endedAt: at,
      size: 20_512,
      sha256: "a".repeat(64),
      storedSize: 4_000,
      storedSha256: "b".repeat(64),
      compression: "zstd",
      encryption,
      revision: 77,
      totalKey: 40,
      liveKeys: 30,
      source: { machine: source.machine, memberId: source.memberId },
    },
  };
}
