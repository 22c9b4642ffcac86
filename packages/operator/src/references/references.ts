import type { ObjectReference } from "@talos-operator/api";
import { createInformer, isForbidden, keyText } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { Clock, Logger, RandomSource, Timers } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";
import { addressIn, allowedReference, unresolved, usableReference } from "./address-of-reference.ts";
import type { Resolution, UsableReference } from "./address-of-reference.ts";
import { createDiscovery } from "./discovery.ts";
import type { AddressProblem } from "../model/machine.ts";

/** What references gave in one pass, asked by the reference and the namespace of the object that refers. */
export type AddressBook = (reference: ObjectReference, namespace: string) => Resolution;

/** Who follows references: one pool. Another call with the same id replaces what it follows. */
export interface Asker {
  readonly id: string;
  /** Called when a referenced object changed. */
  readonly wake: () => void;
}

/** Reads addresses out of other objects, of any kind, and notices when they change. */
export interface References {
  /**
   * Follows references, live or from an answer that is still fresh. Never throws: what went wrong is what the reference gave.
   *
   * @param namespace of the object that refers
   */
  follow(asker: Asker, references: readonly ObjectReference[], namespace: string): Promise<AddressBook>;
  /** The asker is gone. */
  forget(id: string): void;
  /** Ends all watches. */
  close(): void;
}

/** What following references needs. */
export interface ReferencesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
  /** Where references may lead to beside the namespace of the object that refers. Default: everywhere. */
  readonly namespaces?: readonly string[];
}

/** How long an answer counts while a watch would tell of a change. */
const WATCHED_FRESH_MS = 120_000;

/** The same where the kind may be read and not watched. */
const UNWATCHED_FRESH_MS = 10_000;

/** Reads at once. */
const READS_AT_ONCE = 16;

interface Known {
  readonly at: number;
  readonly resourceVersion: string | undefined;
  readonly resolution: Resolution;
}

interface Watch {
  readonly stop: AbortController;
  isHealthy(): boolean;
}

interface Following {
  readonly wake: () => void;
  readonly references: ReadonlyMap<string, UsableReference>;
}

/**
 * Values are always read live, never from a watch: the watch of a kind in a namespace says only that something changed, and costs its names and versions.
 * Where watching is not allowed the objects are read again and again.
 */
export function createReferences(options: ReferencesOptions): References {
  const { client, clock } = options;
  const discovery = createDiscovery(client, clock);
  const check = (reference: ObjectReference, namespace: string): UsableReference | AddressProblem =>
    allowedReference(reference, namespace, options.namespaces);
  const known = new Map<string, Known>();
  const watches = new Map<string, Watch>();
  const following = new Map<string, Following>();

  const read = async (reference: UsableReference): Promise<Known> => {
    const at = clock.now();
    const answer = async (): Promise<readonly [Resolution, string | undefined]> => {
      const what = `${reference.kind}/${reference.name} in namespace ${reference.namespace}`;
      try {
        const type = await discovery.find(reference.apiVersion, reference.kind);
        if (type === undefined)
          return [
            unresolved(
              "ReferenceNotFound",
              `machineRef leads to kind ${reference.kind} of ${reference.apiVersion}, which this API does not serve`,
              "Install its CRD, or correct machineRef.apiVersion and kind",
            ),
            undefined,
          ];
        const object = await client.resource(type).tryGet(keyFor(type, reference));
        if (object === undefined)
          return [
            unresolved("ReferenceNotFound", `machineRef leads to ${what}, which does not exist`, "Create it, or correct machineRef"),
            undefined,
          ];
        watch(type, reference);
        return [addressIn(object, reference), object.metadata?.resourceVersion];
      } catch (thrown) {
        if (isForbidden(thrown))
          return [
            unresolved(
              "ReferenceForbidden",
              `the operator may not read ${what} of ${reference.apiVersion}`,
              `Grant its service account get, list and watch on this kind`,
            ),
            undefined,
          ];
        const code = thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "no answer";
        return [unresolved("ReferenceUnread", `${what} could not be read (${code})`, "Retrying"), undefined];
      }
    };
    const [resolution, resourceVersion] = await answer();
    // One that is awaited is told of by the watch of its kind, if there is one.
    if (resolution.kind === "unresolved" && resolution.problem.reason === "ReferenceNotFound") await watchAwaited(reference);
    const entry = { at, resourceVersion, resolution };
    known.set(textOf(reference), entry);
    return entry;
  };

  const watchAwaited = async (reference: UsableReference): Promise<void> => {
    try {
      const type = await discovery.find(reference.apiVersion, reference.kind);
      if (type !== undefined) watch(type, reference);
    } catch {
      // Read again later anyway.
    }
  };

  const watch = (type: ResourceType, reference: UsableReference): void => {
    const id = watchId(reference);
    if (watches.has(id)) return;
    const informer = createInformer({
      client,
      type,
      timers: options.timers,
      random: options.random,
      log: options.log,
      ...(type.namespaced ? { namespace: reference.namespace } : {}),
      transform: onlyVersion,
    });
    const stop = new AbortController();
    watches.set(id, { stop, isHealthy: () => informer.isSynced && informer.status().failures === 0 });
    informer.subscribe((delta) => changed(id, delta.object, delta.type === "deleted"));
    void informer.run(stop.signal);
  };

  /** Drops what was read of an object, and wakes whoever follows it. */
  const changed = (id: string, object: KubeObject, isGone: boolean): void => {
    for (const [asker, { references, wake }] of following) {
      const concerned = [...references].filter(
        ([text, reference]) =>
          watchId(reference) === id &&
          reference.name === object.metadata?.name &&
          (isGone || known.get(text)?.resourceVersion !== object.metadata.resourceVersion),
      );
      if (concerned.length === 0) continue;
      for (const [text] of concerned) known.delete(text);
      if (following.has(asker)) wake();
    }
  };

  const isFresh = (reference: UsableReference, { at }: Known): boolean => {
    const isWatched = watches.get(watchId(reference))?.isHealthy() === true;
    return elapsedMs(at, clock.now()) < (isWatched ? WATCHED_FRESH_MS : UNWATCHED_FRESH_MS);
  };

  const tidy = (): void => {
    const all = [...following.values()].flatMap(({ references }) => [...references]);
    const texts = new Set(all.map(([text]) => text));
    for (const text of known.keys()) if (!texts.has(text)) known.delete(text);
    const needed = new Set(all.map(([, reference]) => watchId(reference)));
    for (const [id, { stop }] of watches) {
      if (needed.has(id)) continue;
      stop.abort();
      watches.delete(id);
    }
  };

  return {
    async follow(asker, references, namespace) {
      const usable = new Map<string, UsableReference>();
      for (const reference of references) {
        const checked = check(reference, namespace);
        if ("path" in checked) usable.set(textOf(checked), checked);
      }
      if (usable.size === 0) {
        if (following.delete(asker.id)) tidy();
      } else {
        following.set(asker.id, { wake: asker.wake, references: usable });
        tidy();
      }
      const answers = new Map<string, Resolution>();
      const stale: (readonly [string, UsableReference])[] = [];
      for (const [text, reference] of usable) {
        const entry = known.get(text);
        if (entry !== undefined && isFresh(reference, entry)) answers.set(text, entry.resolution);
        else stale.push([text, reference]);
      }
      for (let index = 0; index < stale.length; index += READS_AT_ONCE)
        await Promise.all(
          stale.slice(index, index + READS_AT_ONCE).map(async ([text, reference]) => {
            answers.set(text, (await read(reference)).resolution);
          }),
        );
      return (reference, place) => {
        const checked = check(reference, place);
        if (!("path" in checked)) return { kind: "unresolved", problem: checked };
        return (
          answers.get(textOf(checked)) ?? unresolved("ReferenceUnread", `${checked.kind}/${checked.name} was not read yet`, "Retrying")
        );
      };
    },
    forget(id) {
      if (following.delete(id)) tidy();
    },
    close() {
      following.clear();
      tidy();
    },
  };
}

/** The book of a pool that refers to nothing. */
export const emptyAddressBook: AddressBook = (reference, namespace) => {
  const checked = usableReference(reference, namespace);
  return "path" in checked
    ? unresolved("ReferenceUnread", `${checked.kind}/${checked.name} was not read yet`, "Retrying")
    : { kind: "unresolved", problem: checked };
};

function keyFor(type: ResourceType, { name, namespace }: UsableReference): { readonly name: string; readonly namespace?: string } {
  return type.namespaced ? { namespace, name } : { name };
}

function textOf({ apiVersion, kind, namespace, name, fieldPath }: UsableReference): string {
  return JSON.stringify([apiVersion, kind, keyText({ namespace, name }), fieldPath]);
}

function watchId({ apiVersion, kind, namespace }: UsableReference): string {
  return JSON.stringify([apiVersion, kind, namespace]);
}

function onlyVersion({ metadata }: KubeObject): KubeObject {
  const { name = "", namespace, uid, resourceVersion } = metadata ?? {};
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}
