import type { KubernetesCluster, TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { compareResourceVersions, keyText } from "@talos-operator/kube-runtime";
import type { Informer, KubeClient, KubeObject, ObjectKey } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";
import { elapsedMs } from "../../elapsed.ts";
import type { OwnWrites } from "./own-writes.ts";

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
  readonly kubernetesCluster: Latest<KubernetesCluster>;
}

/**
 * Takes an object from the cache while its watch shows that it moves, and else reads it: a watch may stand still for minutes and nobody notices. Where many
 * clusters are made at once their own statuses keep the watch moving, and nothing is read. A cache that shows what was just written shows as much: it holds
 * whatever was stored before that.
 */
export function createLatest<T extends KubeObject>(informer: Informer<T>, client: KubeClient, clock: Clock, writes?: OwnWrites): Latest<T> {
  const read = createReading<T>(informer.type, client);
  let heardAt = Number.NEGATIVE_INFINITY;
  let movesSince = Number.NEGATIVE_INFINITY;
  informer.subscribe(() => {
    const now = clock.now();
    if (elapsedMs(heardAt, now) >= HEARD_WITHIN_MS) movesSince = now;
    heardAt = now;
  });
  const isMoving = (now: number): boolean => elapsedMs(heardAt, now) < HEARD_WITHIN_MS && elapsedMs(movesSince, now) >= HEARD_WITHIN_MS;
  const showsOwnWrite = (now: number): boolean => {
    const own = writes?.last(informer.type);
    if (own === undefined || elapsedMs(own.sentAt, now) >= HEARD_WITHIN_MS) return false;
    const { resourceVersion } = informer.status();
    return resourceVersion !== undefined && (compareResourceVersions(resourceVersion, own.resourceVersion) ?? -1) >= 0;
  };
  return async (key) => {
    const now = clock.now();
    return isMoving(now) || showsOwnWrite(now) ? informer.store.get(key) : read(key);
  };
}

/** Reads every time. */
export function createReading<T extends KubeObject>(type: Informer<T>["type"], client: KubeClient): Latest<T> {
  return (key) => client.resource<T>(type).tryGet(key);
}

/** The same objects, of which those who ask at the same time share one reading. */
export function sharedWords(latest: LatestWords): LatestWords {
  return {
    talosCluster: shared(latest.talosCluster),
    controlPlane: shared(latest.controlPlane),
    worker: shared(latest.worker),
    machine: shared(latest.machine),
    kubernetesCluster: shared(latest.kubernetesCluster),
  };
}

function shared<T>(latest: Latest<T>): Latest<T> {
  const readings = new Map<string, Promise<T | undefined>>();
  return (key) => {
    const text = keyText(key);
    const begun = readings.get(text);
    if (begun !== undefined) return begun;
    const reading = latest(key).finally(() => readings.delete(text));
    readings.set(text, reading);
    return reading;
  };
}
