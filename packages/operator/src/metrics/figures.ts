import type { Gauge, MetricFamily, MetricsRegistry } from "@talos-operator/kube-runtime";
import { errorTypeOf } from "./error-type.ts";
import type { ErrorType } from "./error-type.ts";
import { upgradeCounters, upgradeGauges } from "./upgrade-figures.ts";
import type { UpgradeCounters, UpgradeFigures } from "./upgrade-figures.ts";

/** What the brain can tell of one cluster when metrics are collected. */
export interface ClusterFigures {
  /** Role and stage of each machine: a stage that the machine told, else why none is known. */
  readonly machines: readonly { readonly role: string; readonly stage: string }[];
  /** Members of etcd by the first control plane that proves that there is one. */
  readonly members: readonly { readonly isLearner: boolean }[];
  /** Effects that are written down and whose outcome is not seen yet. */
  readonly openEffects: number;
  /** How many of them belong to no machine, where any does. */
  readonly strays: readonly { readonly namespace: string; readonly name: string; readonly count: number }[];
  readonly files: readonly EtcdFileFigures[];
  /** Kinds of alarms that its etcd raises, each once. */
  readonly alarms: readonly { readonly namespace: string; readonly name: string; readonly alarm: string }[];
  readonly upgrade: UpgradeFigures;
}

/** The database file of a member of etcd. */
export interface EtcdFileFigures {
  readonly namespace: string;
  /** Of the TalosControlPlane. */
  readonly name: string;
  readonly machine: string;
  readonly sizeBytes: number;
  readonly inUseBytes: number;
}

/** An object with a status, as far as figures are about it. */
export interface CountedObject {
  readonly metadata?: { readonly namespace?: string; readonly name?: string };
  readonly spec?: object;
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

/** Where the operator's own figures go. Without a registry nothing is kept. */
export interface OperatorFigures extends UpgradeCounters {
  /** One pass of a controller ended; `thrown` is what ended it. */
  passed(controller: string, tookMs: number, thrown?: unknown): void;
  /** A failure that ends no pass: the spec is wrong, or files cannot be written and the cluster goes on. */
  failed(controller: string, type: ErrorType): void;
  decided(rule: string): void;
  /** A pass was held back, for it would have broken this. */
  invariantBroken(invariant: string): void;
  carriedOut(effect: string, thrown?: unknown): void;
  machineGenerated(cluster: string, role: string): void;
  fileOperation(operation: "create" | "update" | "delete", isDone: boolean): void;
  /** Counts what is there each time metrics are collected; returns the end of it, after which all is 0. */
  showClusters(read: () => readonly ClusterFigures[]): () => void;
  /** The same for objects: conditions of all kinds, by name for clusters and pools, and phases of KubernetesClusters. */
  showObjects(read: () => Readonly<Record<string, readonly CountedObject[]>>): () => void;
}

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Kinds whose objects are named. A cluster may have thousands of TalosMachines, of which its pools tell. */
const NAMED_KINDS = ["KubernetesCluster", "TalosCluster", "TalosControlPlane", "TalosWorker"] as const;

/** Most conditions that are told of one object: what others write into its status must not fill a database. */
const MOST_CONDITIONS = 40;

/**
 * Registers the metrics under their names; the first five are those of the published contract, to the letter.
 *
 * @param mostNamed objects whose conditions are told by name; 0 = none
 */
export function createOperatorFigures(registry: MetricsRegistry, mostNamed = 1_000): OperatorFigures {
  const clusters = registry.gauge({ name: "talos_operator_clusters_total", help: "KubernetesClusters by phase.", labels: ["phase"] });
  const others = registry
    .gauge({ name: "talos_operator_clusters_of_others", help: "KubernetesClusters that are left to another provider." })
    .with();
  const generated = registry.counter({
    name: "talos_operator_machines_generated",
    help: "Machines made for KubernetesClusters.",
    labels: ["cluster", "role"],
  });
  const took = registry.histogram({
    name: "talos_operator_reconciliation_duration_seconds",
    help: "How long passes took.",
    labels: ["controller"],
    buckets: secondsBuckets,
  });
  const errors = registry.counter({
    name: "talos_operator_reconciliation_errors_total",
    help: "What went wrong in passes.",
    labels: ["controller", "error_type"],
  });
  const files = registry.counter({
    name: "talos_operator_file_operations_total",
    help: "Manifests written and removed below RESULTS_PATH.",
    labels: ["operation", "status"],
  });
  const effects = registry.counter({
    name: "talos_operator_effects_total",
    help: "Effects by what came of them.",
    labels: ["effect", "result"],
  });
  const machines = registry.gauge({ name: "talos_operator_machines", help: "Machines by stage.", labels: ["role", "stage"] });
  const etcd = etcdFigures(registry, mostNamed);
  const open = registry.gauge({ name: "talos_operator_open_effects", help: "Effects whose outcome is not seen yet." }).with();
  const conditions = registry.gauge({
    name: "talos_operator_conditions",
    help: "Objects by what their conditions say.",
    labels: ["kind", "type", "status"],
  });
  const named = registry.gauge({
    name: "talos_operator_object_condition",
    help: "1 for what a condition of this object says now.",
    labels: ["kind", "namespace", "name", "type", "status"],
  });
  const unnamed = registry
    .gauge({ name: "talos_operator_objects_unnamed", help: "Objects that are left out of them, being too many." })
    .with();

  return {
    passed(controller, tookMs, thrown) {
      took.with({ controller }).observe(Math.max(0, tookMs) / 1000);
      if (thrown !== undefined) errors.with({ controller, error_type: errorTypeOf(thrown) }).add();
    },
    failed: (controller, type) => errors.with({ controller, error_type: type }).add(),
    ...decisionFigures(registry),
    carriedOut(effect, thrown) {
      const result = thrown === undefined ? "done" : errorTypeOf(thrown) === "EffectError" ? "refused" : "failed";
      effects.with({ effect, result }).add();
    },
    machineGenerated: (cluster, role) => generated.with({ cluster, role }).add(),
    fileOperation: (operation, isDone) => files.with({ operation, status: isDone ? "success" : "error" }).add(),
    showClusters(read) {
      const machineCounts = new Counts(machines);
      const show = (all: readonly ClusterFigures[]): void => {
        machineCounts.set(all.flatMap((one) => one.machines.map(({ role, stage }) => ({ role, stage }))));
        etcd(all);
        open.set(all.reduce((sum, one) => sum + one.openEffects, 0));
      };
      return ending(
        registry.onCollect(() => show(read())),
        () => show([]),
      );
    },
    showObjects(read) {
      const phases = new Counts(clusters);
      const said = new Counts(conditions);
      const show = (all: Readonly<Record<string, readonly CountedObject[]>>): void => {
        phases.set(
          (all["KubernetesCluster"] ?? []).flatMap(({ status }) => (status?.phase === undefined ? [] : [{ phase: status.phase }])),
        );
        others.set((all["KubernetesCluster"] ?? []).filter(isOfOthers).length);
        const [shown, left] = namedOf(all, mostNamed);
        named.clear();
        for (const labels of shown) named.with(labels).set(1);
        unnamed.set(left);
        said.set(
          Object.entries(all).flatMap(([kind, objects]) =>
            objects.flatMap(({ status }) =>
              (status?.conditions ?? []).map(({ type = "", status: word = "" }) => ({ kind, type, status: word })),
            ),
          ),
        );
      };
      return ending(
        registry.onCollect(() => show(read())),
        () => show({}),
      );
    },
  };
}

/** Upgrades; members of etcd, and its files and alarms by name, at most so many files. */
function etcdFigures(registry: MetricsRegistry, most: number): (all: readonly ClusterFigures[]) => void {
  const members = registry.gauge({ name: "talos_operator_etcd_members", help: "Members of etcd in all clusters.", labels: ["kind"] });
  const upgrades = upgradeGauges(registry, most);
  const memberCounts = new Counts(members);
  const labels = ["namespace", "name", "machine"];
  const size = registry.gauge({
    name: "talos_operator_etcd_database_size_bytes",
    help: "Size of a member's file, which its quota is held against.",
    labels,
  });
  const inUse = registry.gauge({ name: "talos_operator_etcd_database_in_use_bytes", help: "What of it is in use.", labels });
  const alarms = registry.gauge({
    name: "talos_operator_etcd_alarms",
    help: "1 for an alarm that etcd raises now.",
    labels: ["namespace", "name", "alarm"],
  });
  const strays = registry.gauge({
    name: "talos_operator_etcd_stray_members",
    help: "Members of etcd that belong to no machine.",
    labels: ["namespace", "name"],
  });
  return (all) => {
    upgrades(all.map(({ upgrade }) => upgrade));
    memberCounts.set(all.flatMap((one) => one.members.map(({ isLearner }) => ({ kind: isLearner ? "learner" : "voter" }))));
    for (const gauge of [size, inUse, alarms, strays]) gauge.clear();
    for (const { sizeBytes, inUseBytes, ...file } of all.flatMap(({ files }) => files).slice(0, most)) {
      size.with(file).set(sizeBytes);
      inUse.with(file).set(inUseBytes);
    }
    for (const alarm of all.flatMap((one) => one.alarms)) alarms.with(alarm).set(1);
    for (const { count, ...cluster } of all.flatMap((one) => one.strays)) strays.with(cluster).set(count);
  };
}

/** Those that are not Ready come first: where there are too many, it is them that somebody looks for. */
function namedOf(
  all: Readonly<Record<string, readonly CountedObject[]>>,
  most: number,
): readonly [readonly Readonly<Record<string, string>>[], number] {
  const objects = NAMED_KINDS.flatMap((kind) => (all[kind] ?? []).map((object) => ({ kind, object, isReady: isReady(object) })));
  const chosen =
    objects.length <= most
      ? objects
      : objects.toSorted((a, b) => Number(a.isReady) - Number(b.isReady) || (nameOf(a.object) < nameOf(b.object) ? -1 : 1)).slice(0, most);
  const labels = chosen.flatMap(({ kind, object: { metadata, status } }) =>
    (status?.conditions ?? []).slice(0, MOST_CONDITIONS).map(({ type = "", status: word = "" }) => ({
      kind,
      namespace: metadata?.namespace ?? "",
      name: metadata?.name ?? "",
      type,
      status: word,
    })),
  );
  return [labels, most === 0 ? 0 : objects.length - chosen.length];
}

function isReady({ status }: CountedObject): boolean {
  return status?.conditions?.some(({ type, status: word }) => type === "Ready" && word === "True") === true;
}

function nameOf({ metadata }: CountedObject): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

/** A cluster whose provider is not talos is left alone entirely (A097). */
function isOfOthers({ spec }: CountedObject): boolean {
  const { data } = (spec ?? {}) as { readonly data?: { readonly provider?: string } };
  return data !== undefined && data.provider !== "talos";
}

function ending(stop: () => void, last: () => void): () => void {
  return () => {
    stop();
    last();
  };
}

/** A gauge that counts things by their labels; what is no longer there goes to 0. */
class Counts {
  readonly #gauge: MetricFamily<Gauge>;
  #known = new Map<string, Readonly<Record<string, string>>>();

  constructor(gauge: MetricFamily<Gauge>) {
    this.#gauge = gauge;
  }

  set(things: readonly Readonly<Record<string, string>>[]): void {
    const counts = new Map<string, number>();
    for (const labels of things) {
      const key = JSON.stringify(labels);
      this.#known.set(key, labels);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const [key, labels] of this.#known) this.#gauge.with(labels).set(counts.get(key) ?? 0);
  }
}

function decisionFigures(registry: MetricsRegistry): Pick<OperatorFigures, "decided" | "invariantBroken" | keyof UpgradeCounters> {
  const decisions = registry.counter({
    name: "talos_operator_decisions_total",
    help: "Passes by the rule that decided.",
    labels: ["rule"],
  });
  const broken = registry.counter({
    name: "talos_operator_invariants_broken_total",
    help: "Passes that were held back because they would have broken an invariant.",
    labels: ["invariant"],
  });
  return {
    ...upgradeCounters(registry),
    decided: (rule) => decisions.with({ rule }).add(),
    invariantBroken: (invariant) => broken.with({ invariant }).add(),
  };
}
