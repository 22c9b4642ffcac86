import type { JsonObject } from "../json.ts";
import { crdResource } from "../kinds/custom.ts";
import { keyOf } from "../kinds/kind.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt, withMetadata } from "../request/json.ts";
import type { ApiContext } from "../routes/context.ts";
import { timestampOf } from "../routes/context.ts";
import { crdCleanupFinalizer, deleteObject } from "../routes/delete.ts";
import type { PropagationPolicy } from "../routes/delete.ts";
import { isReadyToGo } from "../routes/write.ts";
import type { Change } from "../store/state.ts";
import { eventLastSeenAt, eventLifetimeMs } from "./event-expiry.ts";

const eventResource = "/events";
const eventSweepIntervalMs = 60_000;

interface Item {
  readonly resource: string;
  readonly key: string;
}

/**
 * What the controller manager does to stored objects: collects the dependents of owners that are gone, works off the finalizers
 * `foregroundDeletion` and `orphan`, empties terminating namespaces and CRDs, and gives each namespace its default service account. Events go
 * an hour after they were last seen.
 *
 * It is told of every change, remembers what to look at, and works it off from a timer of 0 ms: never inside the request that caused it.
 * Every step looks at the present state only, so it may be repeated, and a restart begins by looking at everything once.
 */
export class GarbageCollector {
  readonly #context: ApiContext;
  /** Owner uid → the objects that name it. */
  readonly #dependents = new Map<string, Map<string, Item>>();
  /** Uids of all objects there are. */
  readonly #present = new Set<string>();
  readonly #pending = new Map<string, Item>();
  readonly #unsubscribe: () => void;
  #timer: { cancel(): void } | undefined;
  #isClosed = false;
  #lastEventSweep = 0;

  constructor(context: ApiContext) {
    this.#context = context;
    for (const resource of context.state.resources()) {
      for (const { key, object } of context.state.list(resource)) {
        this.#index({ resource, key }, object);
      }
    }
    for (const resource of context.state.resources()) {
      for (const { key, object } of context.state.list(resource)) {
        this.#lookIfNeeded({ resource, key }, object);
      }
    }
    this.#unsubscribe = context.state.subscribe("*", (change) => this.#onChange(change));
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#timer?.cancel();
  }

  #onChange(change: Change): void {
    const item = { resource: change.resource, key: change.key };
    if (change.previous !== undefined) {
      this.#unindex(item, change.previous);
    }
    if (change.type === "DELETED") {
      const uid = uidOf(change.object);
      for (const dependent of this.#dependents.get(uid)?.values() ?? []) this.#look(dependent);
      this.#lookAtContainers(change.resource, change.key);
      this.#lookAtOwners(change.object);
      return;
    }
    this.#index(item, change.object);
    this.#lookIfNeeded(item, change.object);
    if (change.resource === eventResource && change.type === "ADDED") this.#planEventSweep();
    // An owner in foreground deletion waits for dependents that block it; one that no longer does may set it free.
    if (change.previous !== undefined) this.#lookAtOwners(change.previous);
  }

  #lookIfNeeded(item: Item, object: JsonObject): void {
    const metadata = metadataOf(object);
    const isMissingAccount = item.resource === "/namespaces" && metadata["deletionTimestamp"] === undefined;
    if (
      metadata["deletionTimestamp"] !== undefined ||
      isMissingAccount ||
      objectsAt(metadata, "ownerReferences").some((owner) => !this.#present.has(String(owner["uid"])))
    ) {
      this.#look(item);
    }
  }

  #lookAtContainers(resource: string, key: string): void {
    const namespace = key.split("/")[0] ?? "";
    if (namespace !== "") this.#look({ resource: "/namespaces", key: keyOf("", namespace) });
    const kind = this.#context.kinds.find(resource.split("/")[0] ?? "", resource.split("/")[1] ?? "");
    if (kind?.custom === true) this.#look({ resource: crdResource, key: keyOf("", `${kind.plural}.${kind.group}`) });
  }

  #lookAtOwners(object: JsonObject): void {
    const namespace = stringAt(metadataOf(object), "namespace") ?? "";
    for (const owner of objectsAt(metadataOf(object), "ownerReferences")) {
      const kind = this.#context.kinds.findByKind(String(owner["apiVersion"]), String(owner["kind"]));
      if (kind !== undefined) this.#look({ resource: kind.resource, key: keyOf(kind.namespaced ? namespace : "", String(owner["name"])) });
    }
  }

  #look(item: Item): void {
    this.#pending.set(`${item.resource}|${item.key}`, item);
    if (this.#timer === undefined && !this.#isClosed) {
      this.#timer = this.#context.timers.schedule(0, () => this.#work());
    }
  }

  /** Old events go when new ones come, at most once a minute: an API in which nothing happens writes nothing. */
  #planEventSweep(): void {
    if (this.#context.clock.now() - this.#lastEventSweep < eventSweepIntervalMs) return;
    this.#lastEventSweep = this.#context.clock.now();
    const tooOld = this.#lastEventSweep - eventLifetimeMs;
    for (const { key, object } of this.#context.state.list(eventResource)) {
      if (eventLastSeenAt(object) < tooOld) this.#look({ resource: eventResource, key });
    }
  }

  #work(): void {
    this.#timer = undefined;
    const items = [...this.#pending.values()];
    this.#pending.clear();
    for (const item of items) {
      if (this.#isClosed) return;
      try {
        this.#settle(item);
      } catch (err) {
        // The store refused a write. Looking again at once would spin; after a second it may have recovered.
        this.#context.log?.warn({ err, resource: item.resource, key: item.key }, "Garbage collection step failed");
        this.#context.timers.schedule(1000, () => this.#look(item));
      }
    }
  }

  #settle(item: Item): void {
    const entry = this.#context.state.get(item.resource, item.key);
    if (entry === undefined) return;
    const kind = this.#context.kinds.ofStored(item.resource, entry.object);
    if (kind === undefined) return;
    const metadata = metadataOf(entry.object);
    if (item.resource === eventResource && eventLastSeenAt(entry.object) < this.#context.clock.now() - eventLifetimeMs) {
      this.#delete(kind, stringAt(metadata, "namespace") ?? "", stringAt(metadata, "name") ?? "", uidOf(entry.object), undefined);
      return;
    }
    if (metadata["deletionTimestamp"] === undefined) {
      if (this.#collectIfOwnerless(kind, entry.object)) return;
      if (item.resource === "/namespaces") this.#ensureServiceAccount(stringAt(metadata, "name") ?? "");
      return;
    }
    const finalizers = stringsAt(metadata, "finalizers");
    if (finalizers.includes("orphan")) {
      this.#orphanDependents(entry.object);
      this.#finish(item, "orphan");
    } else if (finalizers.includes("foregroundDeletion") && this.#deleteDependents(entry.object)) {
      this.#finish(item, "foregroundDeletion");
    } else if (item.resource === "/namespaces") {
      this.#emptyNamespace(item);
    } else if (item.resource === crdResource && finalizers.includes(crdCleanupFinalizer)) {
      this.#emptyCrd(item, entry.object);
    }
  }

  /** Deletes an object when all its owners are gone; drops the references that dangle when some remain. */
  #collectIfOwnerless(kind: ServedKind, object: JsonObject): boolean {
    const metadata = metadataOf(object);
    const owners = objectsAt(metadata, "ownerReferences");
    const solid = owners.filter((owner) => this.#isThere(owner, metadata));
    if (solid.length === owners.length) return false;
    const namespace = stringAt(metadata, "namespace") ?? "";
    const name = stringAt(metadata, "name") ?? "";
    if (solid.length > 0) {
      this.#context.state.put(kind.resource, keyOf(namespace, name), withMetadata(object, { ownerReferences: solid }));
      return false;
    }
    this.#delete(kind, namespace, name, uidOf(object), undefined);
    return true;
  }

  #isThere(owner: JsonObject, dependent: JsonObject): boolean {
    const kind = this.#context.kinds.findByKind(String(owner["apiVersion"]), String(owner["kind"]));
    // A kind that is not served says nothing about its objects: unknown never leads to removal.
    if (kind === undefined) return true;
    const namespace = kind.namespaced ? (stringAt(dependent, "namespace") ?? "") : "";
    const entry = this.#context.state.get(kind.resource, keyOf(namespace, String(owner["name"])));
    return entry !== undefined && uidOf(entry.object) === owner["uid"];
  }

  #orphanDependents(owner: JsonObject): void {
    const uid = uidOf(owner);
    for (const item of this.#dependentsOf(uid)) {
      const entry = this.#context.state.get(item.resource, item.key);
      if (entry === undefined) continue;
      const left = objectsAt(metadataOf(entry.object), "ownerReferences").filter((reference) => reference["uid"] !== uid);
      this.#context.state.put(
        item.resource,
        item.key,
        withMetadata(entry.object, { ownerReferences: left.length === 0 ? undefined : left }),
      );
    }
  }

  /** Deletes all dependents; true when none is left that blocks the owner. */
  #deleteDependents(owner: JsonObject): boolean {
    const uid = uidOf(owner);
    let isFree = true;
    for (const item of this.#dependentsOf(uid)) {
      const entry = this.#context.state.get(item.resource, item.key);
      const kind = entry === undefined ? undefined : this.#context.kinds.ofStored(item.resource, entry.object);
      if (entry === undefined || kind === undefined) continue;
      const metadata = metadataOf(entry.object);
      const reference = objectsAt(metadata, "ownerReferences").find((candidate) => candidate["uid"] === uid);
      if (metadata["deletionTimestamp"] === undefined) {
        this.#delete(kind, stringAt(metadata, "namespace") ?? "", stringAt(metadata, "name") ?? "", uidOf(entry.object), "Foreground");
      }
      const isLeft = this.#context.state.get(item.resource, item.key) !== undefined;
      if (isLeft && reference?.["blockOwnerDeletion"] === true) isFree = false;
    }
    return isFree;
  }

  #emptyNamespace(item: Item): void {
    const { state, kinds } = this.#context;
    const name = item.key.slice(1);
    let left = 0;
    for (const resource of state.resources()) {
      for (const { object } of state.list(resource, `${name}/`)) {
        const kind = kinds.ofStored(resource, object);
        if (kind === undefined) continue;
        const metadata = metadataOf(object);
        if (metadata["deletionTimestamp"] === undefined)
          this.#delete(kind, name, stringAt(metadata, "name") ?? "", uidOf(object), undefined);
        if (state.get(resource, keyOf(name, stringAt(metadata, "name") ?? "")) !== undefined) left++;
      }
    }
    const entry = state.get(item.resource, item.key);
    if (entry === undefined) return;
    if (left > 0) {
      this.#reportRemaining(item, entry.object, left);
      return;
    }
    const finalized = { ...entry.object, spec: { ...objectAt(entry.object, "spec"), finalizers: [] } };
    if (isReadyToGo(finalized)) {
      state.remove(item.resource, item.key, finalized);
    } else if (stringsAt(entry.object["spec"], "finalizers").length > 0) {
      state.put(item.resource, item.key, finalized);
    }
  }

  #reportRemaining(item: Item, namespace: JsonObject, left: number): void {
    const message = `Some content in the namespace has finalizers remaining: ${left} resource instances`;
    const conditions = objectsAt(namespace["status"], "conditions");
    if (conditions.some((condition) => condition["message"] === message)) return;
    const condition = {
      type: "NamespaceFinalizersRemaining",
      status: "True",
      reason: "SomeFinalizersRemain",
      message,
      lastTransitionTime: timestampOf(this.#context.clock.now()),
    };
    const others = conditions.filter((existing) => existing["type"] !== condition.type);
    this.#context.state.put(item.resource, item.key, {
      ...namespace,
      status: { ...objectAt(namespace, "status"), conditions: [...others, condition] },
    });
  }

  #emptyCrd(item: Item, crd: JsonObject): void {
    const { state, kinds } = this.#context;
    const spec = objectAt(crd, "spec");
    const group = stringAt(spec, "group") ?? "";
    const plural = stringAt(objectAt(spec, "names"), "plural") ?? "";
    const kind = kinds.find(group, plural);
    const resource = `${group}/${plural}`;
    for (const { object } of kind === undefined ? [] : state.list(resource)) {
      const metadata = metadataOf(object);
      if (kind !== undefined && metadata["deletionTimestamp"] === undefined) {
        this.#delete(kind, stringAt(metadata, "namespace") ?? "", stringAt(metadata, "name") ?? "", uidOf(object), undefined);
      }
    }
    if (state.count(resource) === 0) {
      this.#finish(item, crdCleanupFinalizer);
    }
  }

  #ensureServiceAccount(namespace: string): void {
    const key = keyOf(namespace, "default");
    const { state, kinds } = this.#context;
    if (kinds.find("", "serviceaccounts") === undefined || state.get("/serviceaccounts", key) !== undefined) return;
    state.put("/serviceaccounts", key, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: this.#context.newMetadata({ name: "default", namespace }),
    });
  }

  #finish(item: Item, finalizer: string): void {
    const { state } = this.#context;
    const entry = state.get(item.resource, item.key);
    if (entry === undefined) return;
    const left = stringsAt(metadataOf(entry.object), "finalizers").filter((name) => name !== finalizer);
    const object = withMetadata(entry.object, { finalizers: left.length === 0 ? undefined : left });
    if (isReadyToGo(object)) {
      state.remove(item.resource, item.key, object);
    } else {
      state.put(item.resource, item.key, object);
    }
  }

  #delete(kind: ServedKind, namespace: string, name: string, uid: string, policy: PropagationPolicy | undefined): void {
    deleteObject(this.#context, { kind, namespace, name }, { policy, uid, resourceVersion: undefined, dryRun: false });
  }

  /** A list of its own: the index changes while dependents are worked on. */
  #dependentsOf(uid: string): readonly Item[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #index(item: Item, object: JsonObject): void {
    this.#present.add(uidOf(object));
    for (const owner of objectsAt(metadataOf(object), "ownerReferences")) {
      const uid = String(owner["uid"]);
      const dependents = this.#dependents.get(uid) ?? new Map<string, Item>();
      this.#dependents.set(uid, dependents);
      dependents.set(`${item.resource}|${item.key}`, item);
    }
  }

  #unindex(item: Item, object: JsonObject): void {
    this.#present.delete(uidOf(object));
    for (const owner of objectsAt(metadataOf(object), "ownerReferences")) {
      const uid = String(owner["uid"]);
      const dependents = this.#dependents.get(uid);
      dependents?.delete(`${item.resource}|${item.key}`);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
  }
}

function uidOf(object: JsonObject): string {
  return String(metadataOf(object)["uid"]);
}
