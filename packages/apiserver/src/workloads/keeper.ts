import type { ApiContext } from "../routes/context.ts";
import { settleDeployment } from "./deployments.ts";
import { isWronglyTainted, settleNode } from "./node-taints.ts";
import { removeStranded, runPods } from "./nodes.ts";
import { settleDaemonSet, settleJob, settleReplicaSet, settleStatefulSet } from "./sets.ts";
import { ClusterView } from "./view.ts";

/** What runs, and what it runs on. */
const watched = ["apps/deployments", "apps/replicasets", "apps/statefulsets", "apps/daemonsets", "batch/jobs", "/pods", "/nodes"];

/** A rolling update of so many steps is more than a simulated cluster has; what is left goes on with the next change. */
const mostRounds = 500;

/**
 * The least of a controller manager, a scheduler and kubelets that simulated clusters need: Deployments, ReplicaSets, StatefulSets,
 * DaemonSets and Jobs get their pods, pods get a Node and run at once, and what they run on a Node that goes away is made again elsewhere.
 * Nodes bear the taint of their condition.
 * It works from a timer of 0 ms after something changed, looks at the present state only, and writes nothing where nothing changed.
 * Nothing is executed.
 */
export class WorkloadKeeper {
  readonly #context: ApiContext;
  readonly #hasKubelets: boolean;
  readonly #stops: readonly (() => void)[];
  #timer: { cancel(): void } | undefined;
  #isClosed = false;

  /** @param hasKubelets somebody else lets the pods run that have a Node */
  constructor(context: ApiContext, hasKubelets: boolean) {
    this.#context = context;
    this.#hasKubelets = hasKubelets;
    this.#stops = watched.map((resource) => context.state.subscribe(resource, () => this.#look()));
    this.#look();
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#timer?.cancel();
  }

  #look(): void {
    if (this.#isClosed || this.#timer !== undefined || !this.#hasWork()) return;
    this.#timer = this.#context.timers.schedule(0, () => this.#work());
  }

  /** Nodes alone are no work, but for their taints: an empty cluster stays as quiet as it is. */
  #hasWork(): boolean {
    const { state } = this.#context;
    return (
      watched.some((resource) => resource !== "/nodes" && state.list(resource).length > 0) ||
      state.list("/nodes").some(({ object }) => isWronglyTainted(object))
    );
  }

  #work(): void {
    const view = new ClusterView(this.#context);
    try {
      for (let round = 0; round < mostRounds; round++) {
        view.hasChanged = false;
        this.#round(view);
        if (!view.hasChanged) break;
      }
    } catch (err) {
      // The store took no write; the next change tries again.
      this.#context.log?.error({ err }, "Pods of a simulated cluster not stored");
    }
    // Only now: what this pass wrote is no reason for another.
    this.#timer = undefined;
  }

  #round(view: ClusterView): void {
    removeStranded(view);
    for (const node of view.list("/nodes")) settleNode(view, node);
    for (const job of view.list("batch/jobs")) settleJob(view, job);
    for (const set of view.list("apps/daemonsets")) settleDaemonSet(view, set);
    for (const set of view.list("apps/statefulsets")) settleStatefulSet(view, set);
    for (const deployment of view.list("apps/deployments")) settleDeployment(view, deployment);
    for (const set of view.list("apps/replicasets")) settleReplicaSet(view, set);
    runPods(view, this.#hasKubelets);
  }
}
