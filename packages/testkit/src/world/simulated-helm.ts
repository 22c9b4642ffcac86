import { isManifestsTask } from "@talos-operator/helm";
import type {
  AddonResult,
  AddonSecrets,
  ChartFacts,
  HelmFailureReason,
  HelmResult,
  HelmTask,
  ManifestsResult,
  ManifestsTask,
  Revision,
} from "@talos-operator/helm";
import type { AddonRunner } from "@talos-operator/operator";
import type { Clock } from "@talos-operator/ports";

type Request = Parameters<AddonRunner["start"]>[0];

/** What a run of the simulated Helm does. */
export interface HelmFault {
  /** `hangs`: it never ends. `dies`: it begins, leaves its lock, and tells nothing. `lost`: it does all of it, and tells nothing. */
  readonly kind: "hangs" | "dies" | "lost" | HelmFailureReason;
}

/** A revision, as Helm stores it. */
interface Stored extends Revision {
  readonly owner: string | undefined;
  readonly run: string | undefined;
  readonly values: readonly string[];
}

/**
 * Helm and its workers in simulation, with what a genuine one does with releases: labels of revisions, locks, owners, and nothing done twice. It outlives operators,
 * as a Job does. `docs/adr/0045` says by what the worker finds out what is done; the worker itself is held to genuine Helm.
 */
export interface SimulatedHelm {
  readonly runner: AddonRunner;
  /** Every run that was begun, in order. */
  readonly begun: readonly Request[];
  /** Newest first; empty = Helm knows no such release. */
  history(cluster: string, release: string): readonly Stored[];
  /** What the next runs of a release do, one each. */
  fail(release: string, ...faults: readonly HelmFault[]): void;
  /** A release that somebody installed by hand. */
  installByHand(cluster: string, release: string): void;
  /** Runs that go on end well from now on, hanging ones too. */
  release(): void;
}

/** How long a run takes. Milliseconds. */
const TAKES_MS = 3_000;

/** @param manifests does what is asked with sets of objects; default: nobody can, and says so */
export function createSimulatedHelm(clock: Clock, manifests: SetWorker = noSets): SimulatedHelm {
  const releases = new Map<string, Stored[]>();
  const runs = new Map<
    string,
    { readonly request: Request; readonly since: number; readonly isStuck: boolean; result?: AddonResult | undefined; isDone: boolean }
  >();
  const begun: Request[] = [];
  const faults = new Map<string, HelmFault[]>();
  const keyOf = (cluster: string, release: string): string => `${cluster} ${release}`;
  const clusterOf = ({ kubeconfig }: AddonSecrets): string =>
    (JSON.parse(kubeconfig) as { readonly clusters: readonly [{ readonly cluster: { readonly server: string } }] }).clusters[0].cluster
      .server;

  const carryOut = ({ secrets }: Request, task: HelmTask): HelmResult | undefined => {
    const name = `${task.release.namespace}/${task.release.name}`;
    const key = keyOf(clusterOf(secrets), name);
    const [fault] = faults.get(name)?.splice(0, 1) ?? [];
    const before = releases.get(key) ?? [];
    const stored =
      before[0]?.status.startsWith("pending") === true && task.endedRuns.includes(before[0].run ?? "") ? before.slice(1) : before;
    const [newest] = stored;
    if (newest?.status.startsWith("pending") === true) return failed("release-locked", true);
    if (newest !== undefined && newest.owner !== undefined && newest.owner !== task.owner)
      return task.kind === "uninstall" ? { kind: "uninstalled", wasThere: false, helm } : failed("release-not-ours", false);
    if (task.kind === "uninstall") {
      if (fault?.kind === "dies") return undefined;
      if (fault !== undefined && fault.kind !== "lost") return failed(fault.kind as HelmFailureReason, true);
      releases.delete(key);
      return fault === undefined ? { kind: "uninstalled", wasThere: newest !== undefined, helm } : undefined;
    }
    if (task.kind === "rollback") return failed("bad-task", false);
    const isDone = newest?.status === "deployed" && newest.inputs === task.inputs && newest.owner === task.owner;
    const chart: ChartFacts = { name: task.chart.name, version: task.chart.version ?? "1.0.0", appVersion: "1", digest: "d".repeat(64) };
    if (isDone) return applied(chart, stored, false);
    const next = (status: string): Stored => ({
      number: (before[0]?.number ?? 0) + 1,
      status,
      chartVersion: chart.version,
      at: clock.now(),
      inputs: task.inputs,
      owner: task.owner,
      run: task.run,
      values: secrets.values,
    });
    if (fault?.kind === "dies") {
      releases.set(key, [next("pending-upgrade"), ...stored]);
      return undefined;
    }
    if (fault !== undefined && fault.kind !== "lost" && fault.kind !== "hangs") {
      const after = [next("failed"), ...stored];
      releases.set(key, after);
      return { ...failed(fault.kind, true), history: after.map(revisionOf) };
    }
    const after = [next("deployed"), ...stored.map((one) => (one.status === "deployed" ? { ...one, status: "superseded" } : one))];
    releases.set(key, after);
    return fault?.kind === "lost"
      ? undefined
      : { ...applied(chart, after, true), ...(newest !== undefined && newest.owner === undefined ? { adopted: true } : {}) };
  };

  const settle = async (): Promise<void> => {
    for (const run of runs.values()) {
      const { task, secrets } = run.request;
      if (run.isDone || run.isStuck || !isManifestsTask(task) || clock.now() - run.since < TAKES_MS) continue;
      const [fault] = faults.get(`${task.release.namespace}/${task.release.name}`)?.splice(0, 1) ?? [];
      run.isDone = true;
      // Whoever dies in the middle has done all of it or nothing, and tells nothing.
      const result = fault?.kind === "dies" ? undefined : await manifests(task, secrets);
      run.result = fault === undefined ? result : undefined;
    }
    for (const run of runs.values()) {
      if (run.isDone || run.isStuck || clock.now() - run.since < TAKES_MS) continue;
      run.isDone = true;
      const { task } = run.request;
      if (!isManifestsTask(task)) run.result = carryOut(run.request, task);
    }
  };

  return {
    begun,
    history: (cluster, release) => releases.get(keyOf(cluster, release)) ?? [],
    fail: (release, ...given) => void faults.set(release, [...(faults.get(release) ?? []), ...given]),
    installByHand: (cluster, release) =>
      void releases.set(keyOf(cluster, release), [
        { number: 1, status: "deployed", chartVersion: "0.9.0", at: clock.now(), owner: undefined, run: undefined, values: [] },
      ]),
    release() {
      for (const [name, run] of runs) if (run.isStuck) runs.set(name, { ...run, isStuck: false });
    },
    runner: {
      async start(request) {
        if (runs.has(request.name)) return;
        begun.push(request);
        const name = `${request.task.release.namespace}/${request.task.release.name}`;
        const isStuck = faults.get(name)?.[0]?.kind === "hangs";
        if (isStuck) faults.get(name)?.shift();
        runs.set(request.name, { request, since: clock.now(), isStuck, isDone: false });
      },
      async look(name) {
        await settle();
        const run = runs.get(name);
        if (run === undefined) return { kind: "absent" };
        return run.isDone ? { kind: "ended", result: run.result, at: clock.now() } : { kind: "running", since: run.since };
      },
      remove: async (name) => void runs.delete(name),
      async list() {
        await settle();
        return [...runs].map(([name, { request, isDone }]) => ({ name, owner: request.owner, hasEnded: isDone }));
      },
    },
  };
}

/** A worker of sets of objects. */
export type SetWorker = (task: ManifestsTask, secrets: AddonSecrets) => Promise<ManifestsResult>;

const noSets: SetWorker = () =>
  Promise.resolve({ kind: "manifests-failed", reason: "failed", message: "This simulation applies no objects.", mayRepeat: false });

const helm = "v4.2.4";

function failed(reason: HelmFailureReason, mayRepeat: boolean): Extract<HelmResult, { readonly kind: "failed" }> {
  return { kind: "failed", reason, message: `The simulated Helm fails: ${reason}.`, mayRepeat, helm };
}

function applied(chart: ChartFacts, stored: readonly Stored[], isNew: boolean): Extract<HelmResult, { readonly kind: "applied" }> {
  const history = stored.map(revisionOf);
  const [revision] = history;
  if (revision === undefined) throw new RangeError("a release that is applied has a revision");
  return { kind: "applied", revision, chart, isNew, history, objects: { total: 1, workloads: [] }, helm };
}

function revisionOf({ number, status, chartVersion, at, inputs }: Stored): Revision {
  return { number, status, chartVersion, at, ...(inputs === undefined ? {} : { inputs }) };
}
