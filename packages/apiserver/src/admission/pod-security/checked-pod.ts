import type { JsonObject } from "../../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../../request/json.ts";

/** A pod or a template as the checks of Pod Security look at it. */
export interface CheckedPod {
  readonly annotations: JsonObject;
  readonly spec: JsonObject;
  /** `spec.securityContext`. */
  readonly security: JsonObject;
  /** Those that begin, those that stay and those for debugging, in this order. */
  readonly containers: readonly CheckedContainer[];
  readonly isWindows: boolean;
  /** Whose users are others than those of the node: root in it is nobody outside. */
  readonly hasOwnUsers: boolean;
}

/** One of them. */
export interface CheckedContainer {
  readonly name: string;
  readonly container: JsonObject;
  readonly security: JsonObject;
}

/** What a profile does not allow of a pod. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** One rule of a profile. */
export type PodCheck = (pod: CheckedPod) => Violation | undefined;

/** @param pod anything with metadata and spec of a pod */
export function checkedPod(pod: JsonObject): CheckedPod {
  const spec = objectAt(pod, "spec");
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsAt(spec, list).map((container) => ({
      name: stringAt(container, "name") ?? "",
      container,
      security: objectAt(container, "securityContext"),
    })),
  );
  return {
    annotations: objectAt(metadataOf(pod), "annotations"),
    spec,
    security: objectAt(spec, "securityContext"),
    containers,
    isWindows: objectAt(spec, "os")["name"] === "windows",
    hasOwnUsers: spec["hostUsers"] === false,
  };
}

/** `container "a"`, `containers "a", "b"`; empty for none. */
export function counted(word: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  return `${word}${names.length > 1 ? "s" : ""} ${quoted(names)}`;
}

/** `"a", "b"`. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

/** Each once, in order of the alphabet. */
export function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

/** `pod`, `container "a"`, `pod and containers "a", "b"`. */
export function settersOf(isPod: boolean, containers: readonly CheckedContainer[]): string {
  return [...(isPod ? ["pod"] : []), ...(containers.length === 0 ? [] : [containersOf(containers)])].join(" and ");
}

/** `container "a"`, `containers "a", "b"`. */
export function containersOf(containers: readonly CheckedContainer[]): string {
  return counted(
    "container",
    containers.map(({ name }) => name),
  );
}
