import type { Gauge, MetricFamily, MetricsRegistry } from "@talos-operator/kube-runtime";
import { errorTypeOf } from "./error-type.ts";
import type { ErrorType } from "./error-type.ts";

/** What the brain can tell of one cluster when metrics are collected. */
export interface ClusterFigures {
  /** Role and stage of each machine: a stage that the machine told, else why none is known. */
  readonly machines: readonly { readonly role: string; readonly stage: string }[];
  /** Members of etcd by the first control plane that proves that there is one. */
  readonly members: readonly { readonly isLearner: boolean }[];
  /** Effects that are written down and whose outcome is not seen yet. */
  readonly openEffects: number;
}

/** An object with a status, as far as figures are about it. */
export interface CountedObject {
  readonly spec?: object;
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

/** Where the operator's own figures go. Without a registry nothing is kept. */
export interface OperatorFigures {
  /** One pass of a controller ended; `thrown` is what ended it. */
  passed(controller: string, tookMs: number, thrown?: unknown): void;
  /** A failure that ends no pass: the spec is wrong, or files cannot be written and the cluster goes on. */
  failed(controller: string, type: ErrorType): void;
  decided(rule: string): void;
  carriedOut(effect: string, thrown?: unknown): void;
  machineGenerated(cluster: string, role: string): void;
  fileOperation(operation: "create" | "update" | "delete", isDone: boolean): void;
  /** Counts what is there each time metrics are collected; returns the end of it, after which all is 0. */
  showClusters(read: () => readonly ClusterFigures[]): () => void;
  /** The same for objects: conditions of all kinds, phases of KubernetesClusters. */
  showObjects(read: () => Readonly<Record<string, readonly CountedObject[]>>): () => void;
}

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Registers the metrics under their names; the first five are those of the published contract, to the letter. */
export function createOperatorFigures(registry: MetricsRegistry): OperatorFigures {
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
  const decisions = registry.counter({
    name: "talos_operator_decisions_total",
    help: "Passes by the rule that decided.",
    labels: ["rule"],
  });
  const effects = registry.counter({
    name: "talos_operator_effects_total",
    help: "Effects by what came of them.",
    labels: ["effect", "result"],
  });
  const machines = registry.gauge({ name: "talos_operator_machines", help: "Machines by stage.", labels: ["role", "stage"] });
  const members = registry.gauge({ name: "talos_operator_etcd_members", help: "Members of etcd in all clusters.", labels: ["kind"] });
  const open = registry.gauge({ name: "talos_operator_open_effects", help: "Effects whose outcome is not seen yet." }).with();
  const conditions = registry.gauge({
    name: "talos_operator_conditions",
    help: "Objects by what their conditions say.",
    labels: ["kind", "type", "status"],
  });

  return {
    passed(controller, tookMs, thrown) {
      took.with({ controller }).observe(Math.max(0, tookMs) / 1000);
      if (thrown !== undefined) errors.with({ controller, error_type: errorTypeOf(thrown) }).add();
    },
    failed: (controller, type) => errors.with({ controller, error_type: type }).add(),
    decided: (rule) => decisions.with({ rule }).add(),
    carriedOut(effect, thrown) {
      const result = thrown === undefined ? "done" : errorTypeOf(thrown) === "EffectError" ? "refused" : "failed";
      effects.with({ effect, result }).add();
    },
    machineGenerated: (cluster, role) => generated.with({ cluster, role }).add(),
    fileOperation: (operation, isDone) => files.with({ operation, status: isDone ? "success" : "error" }).add(),
    showClusters(read) {
      const machineCounts = new Counts(machines);
      const memberCounts = new Counts(members);
      const show = (all: readonly ClusterFigures[]): void => {
        machineCounts.set(all.flatMap((one) => one.machines.map(({ role, stage }) => ({ role, stage }))));
        memberCounts.set(all.flatMap((one) => one.members.map(({ isLearner }) => ({ kind: isLearner ? "learner" : "voter" }))));
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
