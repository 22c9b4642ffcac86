import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { budgetStatus, covers } from "../kinds/budget.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import type { ApiContext } from "../routes/context.ts";
import { timestampOf } from "../routes/context.ts";

const budgets = "policy/poddisruptionbudgets";
/** What decides how many pods there should be. */
const scaledResources: Readonly<Record<string, string>> = {
  ReplicaSet: "apps/replicasets",
  StatefulSet: "apps/statefulsets",
  Deployment: "apps/deployments",
  ReplicationController: "/replicationcontrollers",
};

/**
 * What the disruption controller does: keeps the status of PodDisruptionBudgets in step with the pods that they cover. It works from a timer of
 * 0 ms after pods, budgets or their controllers changed, looks at the present state only, and writes nothing where nothing changed.
 */
export class BudgetKeeper {
  readonly #context: ApiContext;
  readonly #stale = new Set<string>();
  readonly #stops: readonly (() => void)[];
  #timer: { cancel(): void } | undefined;
  #isClosed = false;

  constructor(context: ApiContext) {
    this.#context = context;
    const { state } = context;
    this.#stops = ["/pods", budgets, ...Object.values(scaledResources)].map((resource) =>
      state.subscribe(resource, (change) => {
        const namespace = change.key.split("/")[0] ?? "";
        // Most namespaces have no budget, and then nothing is to be done.
        if (resource === budgets ? change.type !== "DELETED" : state.list(budgets, `${namespace}/`).length > 0) this.#look(namespace);
      }),
    );
    for (const { key } of state.list(budgets)) this.#look(key.split("/")[0] ?? "");
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#timer?.cancel();
  }

  #look(namespace: string): void {
    if (this.#isClosed) return;
    this.#stale.add(namespace);
    this.#timer ??= this.#context.timers.schedule(0, () => this.#work());
  }

  #work(): void {
    this.#timer = undefined;
    const namespaces = [...this.#stale];
    this.#stale.clear();
    for (const namespace of namespaces) {
      for (const { key, object } of this.#context.state.list(budgets, `${namespace}/`)) this.#settle(namespace, key, object);
    }
  }

  #settle(namespace: string, key: string, budget: JsonObject): void {
    const { state, clock, log } = this.#context;
    const pods = state
      .list("/pods", `${namespace}/`)
      .map((entry) => entry.object)
      .filter((pod) => covers(budget, pod));
    const status = budgetStatus(budget, pods, this.#expected(namespace, pods), timestampOf(clock.now()));
    if (equalJson(status, objectAt(budget, "status"))) return;
    try {
      state.put(budgets, key, { ...budget, status });
    } catch (err) {
      // The store took no write; the next change of a pod or budget tries again.
      log?.error({ err, resource: budgets, key }, "Status of a PodDisruptionBudget not stored");
    }
  }

  #expected(namespace: string, pods: readonly JsonObject[]): number | undefined {
    const replicas = new Map<string, number>();
    for (const pod of pods) {
      const found = this.#controllerOf(namespace, pod, 0);
      if (found === undefined) return undefined;
      replicas.set(found.key, found.replicas);
    }
    return [...replicas.values()].reduce((sum, count) => sum + count, 0);
  }

  #controllerOf(namespace: string, object: JsonObject, depth: number): { readonly key: string; readonly replicas: number } | undefined {
    const owner = objectsAt(metadataOf(object), "ownerReferences").find((reference) => reference["controller"] === true);
    const resource = scaledResources[stringAt(owner, "kind") ?? ""];
    const entry = resource === undefined ? undefined : this.#context.state.get(resource, keyOf(namespace, stringAt(owner, "name") ?? ""));
    if (resource === undefined || entry === undefined || metadataOf(entry.object)["uid"] !== owner?.["uid"]) return undefined;
    // A ReplicaSet of a Deployment has as many pods as that wants.
    const above = depth === 0 ? this.#controllerOf(namespace, entry.object, 1) : undefined;
    const { replicas } = objectAt(entry.object, "spec");
    return above ?? { key: `${resource}|${entry.key}`, replicas: typeof replicas === "number" ? replicas : 1 };
  }
}
