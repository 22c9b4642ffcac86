import { createHash } from "node:crypto";
import { admitNewPod, defaultPod } from "../kinds/defaults/pod.ts";
import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { createNameSuffix, timestampOf } from "../routes/context.ts";
import type { ApiContext } from "../routes/context.ts";
import { deleteObject } from "../routes/delete.ts";

/** What made an object, for its owner reference. */
export interface Maker {
  readonly kind: "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job";
  readonly apiVersion: "apps/v1" | "batch/v1";
  readonly object: JsonObject;
}

/** The stored objects as the simulated controllers see and change them. */
export class ClusterView {
  readonly #context: ApiContext;
  /** True once something was written; whoever goes round sets it back. */
  hasChanged = false;

  constructor(context: ApiContext) {
    this.#context = context;
  }

  /** RFC 3339, seconds. */
  get now(): string {
    return timestampOf(this.#context.clock.now());
  }

  list(resource: string): readonly JsonObject[] {
    return this.#context.state.list(resource).map((entry) => entry.object);
  }

  /** Objects of a resource that `owner` controls and that are not being deleted. */
  ownedBy(resource: string, owner: JsonObject): readonly JsonObject[] {
    const { namespace, uid } = metadataOf(owner);
    return this.#context.state
      .list(resource, `${String(namespace)}/`)
      .map((entry) => entry.object)
      .filter((object) => metadataOf(object)["deletionTimestamp"] === undefined && controllerUid(object) === uid);
  }

  /** Creates an object that `maker` controls. With a name that ends in `-` a suffix is added. */
  create(resource: string, maker: Maker, name: string, object: JsonObject): JsonObject {
    const namespace = String(metadataOf(maker.object)["namespace"]);
    const given = metadataOf(object);
    const whole = name.endsWith("-") ? `${name}${createNameSuffix(this.#context.random)}` : name;
    const owner = metadataOf(maker.object);
    const metadata = {
      ...this.#context.newMetadata({ name: whole, namespace }),
      ...(name.endsWith("-") ? { generateName: name } : {}),
      labels: objectAt(given, "labels"),
      ...(given["annotations"] === undefined ? {} : { annotations: given["annotations"] }),
      ownerReferences: [
        {
          apiVersion: maker.apiVersion,
          kind: maker.kind,
          name: owner["name"],
          uid: owner["uid"],
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      generation: 1,
    };
    this.hasChanged = true;
    return this.#context.state.put(resource, keyOf(namespace, whole), { ...object, metadata });
  }

  /** Stores `next` in the place of `object` where they differ. */
  update(resource: string, object: JsonObject, next: JsonObject): void {
    if (equalJson(object, next)) return;
    this.hasChanged = true;
    this.#context.state.put(resource, keyOf(stringAt(metadataOf(object), "namespace") ?? "", String(metadataOf(object)["name"])), next);
  }

  /** Deletes as a client in the background would. */
  remove(group: string, plural: string, object: JsonObject): void {
    const kind = this.#context.kinds.find(group, plural);
    if (kind === undefined) return;
    const { namespace, name, uid } = metadataOf(object);
    const options = { policy: undefined, uid: String(uid), resourceVersion: undefined, dryRun: false };
    deleteObject(this.#context, { kind, namespace: String(namespace), name: String(name) }, options);
    this.hasChanged = true;
  }
}

function controllerUid(object: JsonObject): unknown {
  return objectsAt(metadataOf(object), "ownerReferences").find((reference) => reference["controller"] === true)?.["uid"];
}

/** A whole number of an object, or `otherwise`. */
export function countAt(object: JsonObject, field: string, otherwise: number): number {
  const value = object[field];
  return typeof value === "number" ? value : otherwise;
}

/** Ten letters that stand for a pod template. */
export function templateHash(template: unknown): string {
  return createHash("sha256").update(JSON.stringify(template)).digest("hex").slice(0, 10);
}

/** A pod as a template wants it, with more labels, and with what the API adds to a new one: without it the first change of the pod would be one of its spec. */
export function podOf(template: JsonObject, labels: JsonObject, spec: JsonObject = {}): JsonObject {
  const metadata = metadataOf(template);
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, labels: { ...objectAt(metadata, "labels"), ...labels } },
    spec: { ...objectAt(template, "spec"), ...spec },
    status: { phase: "Pending" },
  };
  return admitNewPod(defaultPod(pod), undefined);
}

/** True while a pod counts for its controller. */
export function isActive(pod: JsonObject): boolean {
  const phase = stringAt(objectAt(pod, "status"), "phase");
  return phase !== "Succeeded" && phase !== "Failed" && metadataOf(pod)["deletionTimestamp"] === undefined;
}
