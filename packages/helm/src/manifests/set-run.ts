import type { KubeClient } from "@talos-operator/kube-runtime";
import type { ManifestsTask } from "../task/manifests.ts";
import type { ManifestsDeps } from "./deps.ts";
import { ManifestsFault } from "./fault.ts";
import { createInventoryStore } from "./inventory.ts";
import type { InventoryStore } from "./inventory.ts";
import { createKinds } from "./kinds.ts";
import type { Kinds } from "./kinds.ts";

/** Longest that one question to the cluster may take. Milliseconds. */
const CALL_MS = 15_000;

/** One task over a set of objects being carried out. */
export class SetRun {
  readonly deps: ManifestsDeps;
  readonly client: KubeClient;
  readonly inventory: InventoryStore;
  readonly owner: string;
  readonly call: { readonly signal: AbortSignal; readonly timeoutMs: number };
  readonly #deadline: number;

  constructor(deps: ManifestsDeps, client: KubeClient, { owner, release, timeoutMs }: ManifestsTask) {
    this.deps = deps;
    this.client = client;
    this.owner = owner;
    this.call = { signal: deps.signal, timeoutMs: CALL_MS };
    this.inventory = createInventoryStore(client, { owner, title: `${release.namespace}/${release.name}` }, this.call);
    this.#deadline = deps.clock.now() + timeoutMs;
  }

  /** Fields are owned by set: with one name for all of them, an apply of one set would take the fields of another away. */
  get fieldManager(): string {
    return `talos-operator-addons/${this.owner}`;
  }

  get remainingMs(): number {
    return Math.max(1, this.#deadline - this.deps.clock.now());
  }

  /** @throws ManifestsFault `timed-out` */
  demandTime(): void {
    if (this.deps.signal.aborted) throw new ManifestsFault("timed-out", "The worker was asked to stop.", true);
    if (this.deps.clock.now() >= this.#deadline)
      throw new ManifestsFault("timed-out", "The time of the run was over before all objects were applied.", true);
  }

  /** What the cluster serves by now. */
  kinds(): Kinds {
    return createKinds(this.client, this.call);
  }
}
