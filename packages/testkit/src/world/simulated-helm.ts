import { isManifestsTask } from "@talos-operator/helm";
import type {
  AddonResult,
  AddonSecrets,
  ChartFacts,
  DriftedObject,
  HelmFailureReason,
  HelmResult,
  HelmTask,
  ManifestsResult,
  ManifestsTask,
  ObjectChange,
  Revision,
} from "@talos-operator/helm";
import type { AddonRunner } from "@talos-operator/operator";
import type { Clock } from "@talos-operator/ports";

type Request = Parameters<AddonRunner["start"]>[0];

/** A request for Helm itself. */
type HelmRequest = Request & { readonly task: HelmTask };

/** What a run of the simulated Helm does. */
export interface HelmFault {
  /**
   * `hangs`: it never ends. `never`: it dies before anything is done. `dies`: it begins, leaves its lock, and tells nothing. `lost`: it does all of it, and tells
   * nothing. `twice`: its worker begins once more after it had done all. Everything else is a failure that Helm tells, with a failed revision.
   */
  readonly kind: "hangs" | "never" | "dies" | "lost" | "twice" | HelmFailureReason;
}

/** What befalls runs that nobody scripted, and what they are watched by. */
export interface SimulatedHelmOptions {
  /** Asked when a run is about to begin its work; `undefined` = all goes well. */
  readonly faultOf?: (request: Request) => HelmFault | undefined;
  /** What a run does that is ended in the middle. Default: nothing was done by then. */
  readonly whenEnded?: (request: Request) => "never" | "dies" | "lost";
  /** Does what is asked with sets of objects. Default: nobody can, and says so. */
  readonly manifests?: SetWorker;
  /** Before a run works on a release, with what Helm knows of it. */
  readonly onWork?: (request: Request, before: readonly StoredRevision[]) => void;
}

/** A revision, as Helm stores it. */
export interface StoredRevision extends Revision {
  readonly owner: string | undefined;
  readonly run: string | undefined;
  readonly values: readonly string[];
  /** Made by going back to this one. */
  readonly rolledBackTo?: number;
  /** What others changed of it. */
  readonly drifted?: readonly DriftedObject[];
}

/**
 * Helm and its workers in simulation, with what a genuine one does with releases: labels of revisions, locks, owners, and nothing done twice. It outlives operators,
 * as a Job does. `docs/adr/0045` says by what the worker finds out what is done; the worker itself is held to genuine Helm.
 */
export interface SimulatedHelm {
  readonly runner: AddonRunner;
  /** Every run that was begun, in order. */
  readonly begun: readonly Request[];
  /** Runs that go on. */
  going(): readonly Request[];
  /** Newest first; empty = Helm knows no such release. */
  history(cluster: string, release: string): readonly StoredRevision[];
  /** What the next runs of a release do, one each. */
  fail(release: string, ...faults: readonly HelmFault[]): void;
  /** A release that somebody installed by hand. */
  installByHand(cluster: string, release: string): void;
  /** Somebody else changes objects of the newest revision. */
  drift(cluster: string, release: string, drifted: readonly DriftedObject[]): void;
  /** Runs that hang go on, and end well. */
  release(): void;
  /** Lets runs end whose time has come: otherwise they do when somebody looks. */
  settle(): Promise<void>;
}

/** How long a run takes. Milliseconds. */
export const TAKES_MS = 3_000;

/** What goes wrong before Helm is asked to change anything. */
const BEFORE_HELM: ReadonlySet<HelmFailureReason> = new Set([
  "repository-unreachable",
  "repository-refused",
  "chart-not-found",
  "chart-too-large",
  "chart-invalid",
  "digest-mismatch",
]);

/** Revisions that Helm keeps. */
const MOST_REVISIONS = 10;

export function createSimulatedHelm(clock: Clock, options: SimulatedHelmOptions = {}): SimulatedHelm {
  const releases = new Map<string, readonly StoredRevision[]>();
  const runs = new Map<string, Run>();
  const begun: Request[] = [];
  const faults = new Map<string, HelmFault[]>();

  /** A worker's whole work on one release. @returns `undefined` where it dies before it tells anything */
  const carryOut = (request: HelmRequest, fault: HelmFault | undefined): HelmResult | undefined => {
    const { task, secrets } = request;
    const key = keyOf(clusterOf(secrets), nameOf(task));
    if (fault?.kind === "never") return undefined;
    if (fault?.kind === "twice") carryOut(request, undefined);
    const stored = unlocked(releases.get(key) ?? [], "endedRuns" in task ? task.endedRuns : []);
    options.onWork?.(request, stored);
    const [newest] = stored;
    if (newest?.status.startsWith("pending") === true) return failed("release-locked", true);
    const isForeign = newest?.owner !== undefined && newest.owner !== task.owner;
    const keep = (after: readonly StoredRevision[]): readonly StoredRevision[] => {
      const kept = after.slice(0, MOST_REVISIONS);
      releases.set(key, kept);
      return kept;
    };
    switch (task.kind) {
      case "inspect": {
        if (newest === undefined || newest.owner !== task.owner) return failed("release-not-ours", false);
        if (isFailure(fault)) return failed(fault.kind, true);
        if (fault?.kind === "dies" || fault?.kind === "lost") return undefined;
        const drifted = newest.drifted ?? [];
        return { kind: "inspected", revision: newest.number, drifted: drifted.slice(0, 5), total: drifted.length, helm };
      }
      case "preview": {
        if (isForeign) return failed("release-not-ours", false);
        if (isFailure(fault)) return failed(fault.kind, true);
        if (fault?.kind === "dies" || fault?.kind === "lost") return undefined;
        const chart = chartOf(task);
        const object = `Deployment ${task.release.namespace}/${task.release.name}`;
        const change: ObjectChange =
          newest === undefined
            ? { object, change: "create", fields: [] }
            : { object, change: "change", fields: [`spec.values: ${secrets.values.length}`] };
        return {
          kind: "previewed",
          chart,
          ...(newest === undefined ? {} : { revision: newest.number }),
          changes: [change],
          total: 1,
          helm,
        };
      }
      case "rollback": {
        if (isForeign) return failed("release-not-ours", false);
        const target = stored.find(({ number }) => number === task.revision);
        if (newest === undefined || target === undefined) return failed("bad-task", false);
        const isDone = newest.status === "deployed" && (newest.number === task.revision || newest.rolledBackTo === task.revision);
        const made: StoredRevision = {
          ...target,
          drifted: [],
          number: newest.number + 1,
          status: "deployed",
          at: clock.now(),
          run: task.run,
          rolledBackTo: task.revision,
        };
        if (fault?.kind === "dies") {
          if (!isDone) keep([{ ...made, status: "pending-rollback" }, ...stored]);
          return undefined;
        }
        if (isFailure(fault)) return failed(fault.kind, true);
        const after = isDone ? stored : keep([made, ...stored.map(superseded)]);
        if (fault?.kind === "lost") return undefined;
        const history = after.map(revisionOf);
        return { kind: "rolled-back", revision: revisionOf(isDone ? newest : made), history, objects: { total: 1, workloads: [] }, helm };
      }
      case "uninstall":
        if (newest === undefined || newest.owner !== task.owner) return { kind: "uninstalled", wasThere: false, helm };
        if (fault?.kind === "dies") return void keep([{ ...newest, status: "uninstalling" }, ...stored.slice(1)]);
        if (isFailure(fault)) return failed(fault.kind, true);
        releases.delete(key);
        return fault?.kind === "lost" ? undefined : { kind: "uninstalled", wasThere: true, helm };
      case "apply": {
        if (isForeign) return failed("release-not-ours", false);
        // What was half uninstalled is uninstalled first.
        if (newest?.status === "uninstalling" && newest.owner === task.owner) {
          releases.delete(key);
          return carryOut(request, fault);
        }
        const chart = chartOf(task);
        if (
          newest?.status === "deployed" &&
          newest.inputs === task.inputs &&
          newest.owner === task.owner &&
          newest.number > (task.beyond ?? 0)
        )
          return fault?.kind === "lost" || fault?.kind === "dies" ? undefined : applied(chart, stored, false);
        const next = (status: string): StoredRevision => ({
          number: (newest?.number ?? 0) + 1,
          status,
          chartVersion: chart.version,
          at: clock.now(),
          inputs: task.inputs,
          owner: task.owner,
          run: task.run,
          values: secrets.values,
        });
        if (fault?.kind === "dies") return void keep([next(newest === undefined ? "pending-install" : "pending-upgrade"), ...stored]);
        if (isFailure(fault) && BEFORE_HELM.has(fault.kind))
          return { ...failed(fault.kind, false), ...(stored.length === 0 ? { history: [] } : {}) };
        if (isFailure(fault)) {
          const after = [next("failed"), ...stored];
          const good = stored.find(({ status }) => status === "deployed" || status === "superseded");
          const { atomic = false } = task.options;
          if (good === undefined && atomic) {
            releases.delete(key);
            return { ...failed(fault.kind, true), history: [] };
          }
          if ((!task.rollbackOnFailure && !atomic) || good === undefined)
            return { ...failed(fault.kind, true), history: keep(after).map(revisionOf) };
          const back: StoredRevision = { ...good, number: (after[0]?.number ?? 0) + 1, status: "deployed", at: clock.now(), run: task.run };
          return {
            ...failed(fault.kind, true),
            history: keep([back, ...after.map(superseded)]).map(revisionOf),
            rolledBackTo: good.number,
          };
        }
        const after = keep([next("deployed"), ...stored.map(superseded)]);
        return fault?.kind === "lost"
          ? undefined
          : { ...applied(chart, after, true), ...(newest !== undefined && newest.owner === undefined ? { adopted: true } : {}) };
      }
    }
  };

  const work = async (request: Request, fault: HelmFault | undefined): Promise<AddonResult | undefined> => {
    const { task, secrets } = request;
    const { manifests = noSets } = options;
    if (isManifestsTask(task)) {
      if (fault?.kind === "never" || fault?.kind === "dies") return undefined;
      const told = await manifests(task, secrets);
      return fault === undefined || fault.kind === "twice" ? told : undefined;
    }
    return carryOut({ ...request, task }, fault);
  };

  const settle = async (): Promise<void> => {
    for (const run of runs.values()) {
      if (run.isDone || run.isWorking || run.isStuck || clock.now() - run.since < TAKES_MS) continue;
      const fault = run.mayFail ? (faults.get(nameOf(run.request.task))?.shift() ?? options.faultOf?.(run.request)) : undefined;
      run.isStuck = fault?.kind === "hangs";
      if (run.isStuck) continue;
      run.isWorking = true;
      run.result = await work(run.request, fault);
      run.isDone = true;
    }
  };

  return {
    begun,
    going: () => [...runs.values()].flatMap(({ request, isDone }) => (isDone ? [] : [request])),
    history: (cluster, release) => releases.get(keyOf(cluster, release)) ?? [],
    fail: (release, ...given) => void faults.set(release, [...(faults.get(release) ?? []), ...given]),
    drift(cluster, release, drifted) {
      const key = keyOf(cluster, release);
      const [newest, ...older] = releases.get(key) ?? [];
      if (newest === undefined) throw new Error(`Helm knows no release ${release}`);
      releases.set(key, [{ ...newest, drifted }, ...older]);
    },
    installByHand: (cluster, release) =>
      void releases.set(keyOf(cluster, release), [
        { number: 1, status: "deployed", chartVersion: "0.9.0", at: clock.now(), owner: undefined, run: undefined, values: [] },
      ]),
    release() {
      for (const run of runs.values()) {
        if (!run.isStuck) continue;
        run.isStuck = false;
        run.mayFail = false;
      }
    },
    settle,
    runner: {
      async start(request) {
        if (runs.has(request.name)) return;
        begun.push(request);
        const scripted = faults.get(nameOf(request.task));
        const isStuck = scripted?.[0]?.kind === "hangs";
        if (isStuck) scripted.shift();
        runs.set(request.name, { request, since: clock.now(), isStuck, isWorking: false, isDone: false, mayFail: true, result: undefined });
      },
      async look(name) {
        await settle();
        const run = runs.get(name);
        if (run === undefined) return { kind: "absent" };
        return run.isDone ? { kind: "ended", result: run.result, at: clock.now() } : { kind: "running", since: run.since };
      },
      async remove(name) {
        const run = runs.get(name);
        runs.delete(name);
        const task = run?.request.task;
        if (run === undefined || task === undefined || run.isDone || isManifestsTask(task)) return;
        carryOut({ ...run.request, task }, { kind: options.whenEnded?.(run.request) ?? "never" });
      },
      async list() {
        await settle();
        return [...runs].map(([name, { request, isDone }]) => ({ name, owner: request.owner, hasEnded: isDone }));
      },
    },
  };
}

interface Run {
  readonly request: Request;
  readonly since: number;
  isStuck: boolean;
  isWorking: boolean;
  isDone: boolean;
  /** One that went on after it hung ends well. */
  mayFail: boolean;
  result: AddonResult | undefined;
}

/** A lock that an ended run of ours left becomes a failed revision, as the worker makes it. */
function unlocked(stored: readonly StoredRevision[], endedRuns: readonly string[]): readonly StoredRevision[] {
  const [newest, ...older] = stored;
  const isOurs = newest?.status.startsWith("pending") === true && endedRuns.includes(newest.run ?? "");
  return newest !== undefined && isOurs ? [{ ...newest, status: "failed" }, ...older] : stored;
}

function superseded(one: StoredRevision): StoredRevision {
  return one.status === "deployed" ? { ...one, status: "superseded" } : one;
}

function isFailure(fault: HelmFault | undefined): fault is { readonly kind: HelmFailureReason } {
  return fault !== undefined && !["hangs", "never", "dies", "lost", "twice"].includes(fault.kind);
}

function nameOf({ release }: Request["task"]): string {
  return `${release.namespace}/${release.name}`;
}

function keyOf(cluster: string, release: string): string {
  return `${cluster} ${release}`;
}

function chartOf({ chart: { name, version = "1.0.0" } }: Extract<HelmTask, { readonly chart: unknown }>): ChartFacts {
  return { name, version, appVersion: "1", digest: "d".repeat(64) };
}

function clusterOf({ kubeconfig }: AddonSecrets): string {
  return (JSON.parse(kubeconfig) as { readonly clusters: readonly [{ readonly cluster: { readonly server: string } }] }).clusters[0].cluster
    .server;
}

/** A worker of sets of objects. */
export type SetWorker = (task: ManifestsTask, secrets: AddonSecrets) => Promise<ManifestsResult>;

const noSets: SetWorker = () =>
  Promise.resolve({ kind: "manifests-failed", reason: "failed", message: "This simulation applies no objects.", mayRepeat: false });

const helm = "v4.2.4";

function failed(reason: HelmFailureReason, mayRepeat: boolean): Extract<HelmResult, { readonly kind: "failed" }> {
  return { kind: "failed", reason, message: `The simulated Helm fails: ${reason}.`, mayRepeat, helm };
}

function applied(chart: ChartFacts, stored: readonly StoredRevision[], isNew: boolean): Extract<HelmResult, { readonly kind: "applied" }> {
  const history = stored.map(revisionOf);
  const [revision] = history;
  if (revision === undefined) throw new RangeError("a release that is applied has a revision");
  return { kind: "applied", revision, chart, isNew, history, objects: { total: 1, workloads: [] }, helm };
}

function revisionOf({ number, status, chartVersion, at, inputs }: StoredRevision): Revision {
  return { number, status, chartVersion, at, ...(inputs === undefined ? {} : { inputs }) };
}
