import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt, stringsAt, withMetadata } from "../request/json.ts";
import { fill } from "./defaults/fill.ts";
import { pending } from "./defaults/workloads.ts";
import type { WriteFacts } from "./kind.ts";

/** With this a claim waits until no pod uses it. */
export const claimFinalizer = "kubernetes.io/pvc-protection";
/** With this a volume waits until no claim has it. */
export const volumeFinalizer = "kubernetes.io/pv-protection";

const defaultMark = "storageclass.kubernetes.io/is-default-class";
const defaultMarkOnce = "storageclass.beta.kubernetes.io/is-default-class";
const classNote = "volume.beta.kubernetes.io/storage-class";

/** What the server gives a new claim: the default class, protection and a phase. */
export function beginClaim(claim: JsonObject, old: JsonObject | undefined, { stored }: WriteFacts): JsonObject {
  if (old !== undefined) return claim;
  return protectedBy(pending(withClass(claim, stored("storage.k8s.io/storageclasses"))), claimFinalizer);
}

/** What the server gives a new volume: protection, a phase and since when it has been in it. */
export function beginVolume(volume: JsonObject, old: JsonObject | undefined, { now }: WriteFacts): JsonObject {
  if (old !== undefined) return volume;
  const begun = pending(volume);
  return protectedBy({ ...begun, status: fill(objectAt(begun, "status"), { lastPhaseTransitionTime: now }) }, volumeFinalizer);
}

function protectedBy(object: JsonObject, finalizer: string): JsonObject {
  const finalizers = stringsAt(metadataOf(object), "finalizers");
  return finalizers.includes(finalizer) ? object : withMetadata(object, { finalizers: [...finalizers, finalizer] });
}

/** A claim that names no class gets the newest of the default ones. An empty name means that it wants none. */
function withClass(claim: JsonObject, classes: readonly JsonObject[]): JsonObject {
  const spec = objectAt(claim, "spec");
  const annotations = objectAt(metadataOf(claim), "annotations");
  if (spec["storageClassName"] !== undefined || annotations[classNote] !== undefined) return claim;
  const isDefault = (storage: JsonObject): boolean => {
    const marks = objectAt(metadataOf(storage), "annotations");
    return marks[defaultMark] === "true" || marks[defaultMarkOnce] === "true";
  };
  const since = (storage: JsonObject): string => stringAt(metadataOf(storage), "creationTimestamp") ?? "";
  const newest = classes
    .filter(isDefault)
    .reduce<JsonObject | undefined>((a, b) => (a !== undefined && since(a) >= since(b) ? a : b), undefined);
  return newest === undefined ? claim : { ...claim, spec: { ...spec, storageClassName: metadataOf(newest)["name"] } };
}
