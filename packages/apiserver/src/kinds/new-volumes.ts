import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt, stringsAt, without, withMetadata } from "../request/json.ts";
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

/** What the server gives a new claim: the default class, protection, a phase; and any claim both names of its source. */
export function beginClaim(claim: JsonObject, old: JsonObject | undefined, { stored }: WriteFacts): JsonObject {
  const sourced = withBothSources(claim, old);
  if (old !== undefined) return sourced;
  return protectedBy(pending(withClass(sourced, stored("storage.k8s.io/storageclasses"))), claimFinalizer);
}

/** `dataSource` is the older name of `dataSourceRef`; of a new claim it may name nothing but claims and snapshots, and is ignored otherwise. */
function withBothSources(claim: JsonObject, old: JsonObject | undefined): JsonObject {
  const spec = objectAt(claim, "spec");
  const before = objectAt(old, "spec");
  const hadSource = before["dataSource"] !== undefined || before["dataSourceRef"] !== undefined;
  const { dataSource, dataSourceRef } = spec;
  if (isObject(dataSourceRef)) {
    // Sources in other namespaces are off unless somebody turns them on.
    if (stringAt(dataSourceRef, "namespace")) return { ...claim, spec: without(spec, "dataSourceRef") };
    return { ...claim, spec: fill(spec, { dataSource: dataSourceRef }) };
  }
  if (!isObject(dataSource)) return claim;
  const isKnown = ["/PersistentVolumeClaim", "snapshot.storage.k8s.io/VolumeSnapshot"].includes(
    `${stringAt(dataSource, "apiGroup") ?? ""}/${stringAt(dataSource, "kind") ?? ""}`,
  );
  if (!isKnown && !hadSource) return { ...claim, spec: without(spec, "dataSource") };
  return { ...claim, spec: { ...spec, dataSourceRef: dataSource } };
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
  const at = (storage: JsonObject, field: string): string => stringAt(metadataOf(storage), field) ?? "";
  const [newest] = classes
    .filter(isDefault)
    .toSorted((a, b) =>
      at(a, "creationTimestamp") === at(b, "creationTimestamp")
        ? at(a, "name") < at(b, "name")
          ? -1
          : 1
        : at(a, "creationTimestamp") > at(b, "creationTimestamp")
          ? -1
          : 1,
    );
  return newest === undefined ? claim : { ...claim, spec: { ...spec, storageClassName: at(newest, "name") } };
}
