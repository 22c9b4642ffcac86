import type { TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { Informer, KubeClient, KubeObject, ObjectKey } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";
import { elapsedMs } from "../../elapsed.ts";

/**
 * A watch tells changes in their order: while it has gone on telling for so long, and told one so lately, nothing older than this is missing. One that stood
 * still begins with what is old, and so may a list that comes as a watch.
 */
const HEARD_WITHIN_MS = 2_000;

/** Objects of one kind as they are now, or were a moment ago; `undefined` = there is none. @throws KubeApiError */
export type Latest<T> = (key: ObjectKey) => Promise<T | undefined>;

/** The objects whose word counts from the moment in which somebody writes it. */
export interface LatestWords {
  readonly talosCluster: Latest<TalosCluster>;
  readonly controlPlane: Latest<TalosControlPlane>;
  readonly worker: Latest<TalosWorker>;
  readonly machine: Latest<TalosMachine>;
}

/**
 * Takes an object from the cache while its watch shows that it moves, and else reads it: a watch may stand still for minutes and nobody notices. Where many
 * clusters are made at once their own statuses keep the watch moving, and nothing is read.
 */
export function createLatest<T extends KubeObject>(informer: Informer<T>, client: KubeClient, clock: Clock): Latest<T> {
  const read = createReading<T>(informer.type, client);
  let heardAt = Number.NEGATIVE_INFINITY;
  let movesSince = Number.NEGATIVE_INFINITY;
  informer.subscribe(() => {
    const now = clock.now();
    if (elapsedMs(heardAt, now) >= HEARD_WITHIN_MS) movesSince = now;
    heardAt = now;
  });
  const isMoving = (now: number): boolean => elapsedMs(heardAt, now) < HEARD_WITHIN_MS && elapsedMs(movesSince, now) >= HEARD_WITHIN_MS;
  return async (key) => (isMoving(clock.now()) ? informer.store.get(key) : read(key));
}

/** Reads every time. */
export function createReading<T extends KubeObject>(type: Informer<T>["type"], client: KubeClient): Latest<T> {
  return (key) => client.resource<T>(type).tryGet(key);
}
