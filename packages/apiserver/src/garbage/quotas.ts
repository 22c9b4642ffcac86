import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { isCounted, quotaResource, quotaStatus } from "../kinds/quota.ts";
import { objectAt } from "../request/json.ts";
import type { ApiContext } from "../routes/context.ts";
import type { Change } from "../store/state.ts";

/**
 * What the quota controller does: keeps the status of ResourceQuotas in step with what is used. It works from a timer of 0 ms after a quota or an
 * object that it counts changed, looks at the present state only, and writes nothing where nothing changed.
 */
export class QuotaKeeper {
  readonly #context: ApiContext;
  readonly #stale = new Set<string>();
  readonly #stop: () => void;
  #timer: { cancel(): void } | undefined;
  #isClosed = false;

  constructor(context: ApiContext) {
    this.#context = context;
    this.#stop = context.state.subscribe("*", (change) => this.#onChange(change));
    for (const { key } of context.state.list(quotaResource)) this.#look(key.split("/")[0] ?? "");
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
    this.#timer?.cancel();
  }

  #onChange({ resource, key }: Change): void {
    const { state } = this.#context;
    // Most servers have no quota, and then nothing is to be done.
    if (state.count(quotaResource) === 0) return;
    const namespace = key.split("/")[0] ?? "";
    const isQuota = resource === quotaResource;
    if (isQuota || state.list(quotaResource, `${namespace}/`).some(({ object }) => isCounted(object, resource))) this.#look(namespace);
  }

  #look(namespace: string): void {
    if (this.#isClosed) return;
    this.#stale.add(namespace);
    this.#timer ??= this.#context.timers.schedule(0, () => this.#work());
  }

  #work(): void {
    this.#timer = undefined;
    const { state } = this.#context;
    const namespaces = [...this.#stale];
    this.#stale.clear();
    for (const namespace of namespaces) {
      const list = (resource: string): readonly JsonObject[] => state.list(resource, `${namespace}/`).map((entry) => entry.object);
      for (const { key, object } of state.list(quotaResource, `${namespace}/`)) this.#settle(key, object, list);
    }
  }

  #settle(key: string, quota: JsonObject, list: (resource: string) => readonly JsonObject[]): void {
    const status = quotaStatus(quota, list);
    if (equalJson(status, objectAt(quota, "status"))) return;
    try {
      this.#context.state.put(quotaResource, key, { ...quota, status });
    } catch (err) {
      // The store took no write; the next change in the namespace tries again.
      this.#context.log?.error({ err, resource: quotaResource, key }, "Status of a ResourceQuota not stored");
    }
  }
}
