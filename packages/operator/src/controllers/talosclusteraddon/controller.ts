import {
  annotations,
  conditionFor,
  finalizers,
  labels,
  reconcileModeOf,
  talosClusterAddonReleaseResource,
  talosClusterAddonResource,
  talosClusterResource,
  talosControlPlaneResource,
} from "@talos-operator/api";
import type { Finding, TalosCluster, TalosClusterAddon, TalosClusterAddonRelease, TalosControlPlane } from "@talos-operator/api";
import {
  addFinalizer,
  createController,
  deleteExactly,
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyText,
  removeFinalizer,
  watchOf,
} from "@talos-operator/kube-runtime";
import type { Controller, Delta, Informer, KubeObject, ObjectKey, ReconcileContext, ReconcileResult } from "@talos-operator/kube-runtime";
import type { Telling } from "../../telling/telling.ts";
import { commonOptions } from "../shared/controller-ports.ts";
import type { ControllerPorts } from "../shared/controller-ports.ts";
import { isBeingOrphaned } from "../shared/delete-owned.ts";
import { judgedStatus, pausedStatus } from "../shared/kstatus.ts";
import { createReading } from "../shared/latest.ts";
import { pausedCondition } from "../shared/mode.ts";
import { specOrMetadataChanged } from "../shared/predicates.ts";
import { isRefusedWrite } from "../shared/refused-write.ts";
import { createStatusWriter } from "../shared/status-writer.ts";
import { addonLabel, belongingOf, markedNotSelected, patchBetween, releaseFor, withoutOwner } from "./compose.ts";
import { decideAddon } from "./decide.ts";
import type { AddonDecision, Removal } from "./decide.ts";
import { releaseTextOf, releaseTextOfAddon } from "./helm-release.ts";
import { isOurs, selects, viewOf } from "./seen.ts";
import type { AddonSeen } from "./seen.ts";
import { clustersOf } from "./selection.ts";

const FIELD_MANAGER = "talos-operator/talosclusteraddon";

/** A race that was lost: the next pass comes so soon. Milliseconds. */
const AGAIN_MS = 1_000;

/** Releases that one pass writes; the others are the next one's. So a pass ends in its time, and a process that is to stop does. */
const MOST_WRITES = 32;

/** What was refused is tried again after this. Milliseconds. */
const REFUSED_AGAIN_MS = 30_000;

/** Releases that are being removed wake their addon; this is for a watch that stands still. Milliseconds. */
const REMOVED_AGAIN_MS = 30_000;

/** A Namespace, of which only its metadata counts. */
export const namespaceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false } as const;

/** Indexes that {@link AddonControllerOptions.addons} needs. */
export const addonIndexers = {
  label: (addon: TalosClusterAddon): readonly string[] => [addonLabel(addon)],
  helmRelease: (addon: TalosClusterAddon): readonly string[] => [releaseTextOfAddon(addon)],
};

/** What the controller of addons needs. */
export interface AddonControllerOptions extends ControllerPorts {
  readonly addons: Informer<TalosClusterAddon>;
  readonly releases: Informer<TalosClusterAddonRelease>;
  readonly talosClusters: Informer<TalosCluster>;
  readonly controlPlanes: Informer<TalosControlPlane>;
  /** Absent where only one namespace is watched: no other one counts then. */
  readonly namespaces?: Informer<KubeObject>;
  readonly events: Telling;
  /** What is wrong with a spec beyond its schema. */
  readonly problemsOf: (addon: TalosClusterAddon) => readonly Finding[];
}

/** Makes one TalosClusterAddonRelease for every cluster that an addon selects, and sums up what becomes of them. Helm is not its matter. */
export function createAddonController(options: AddonControllerOptions): Controller {
  const { client, clock, addons, releases, talosClusters, controlPlanes, namespaces, events, problemsOf } = options;
  const objects = client.resource<TalosClusterAddon>(talosClusterAddonResource);
  const made = client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource);
  const controlPlaneNow = createReading<TalosControlPlane>(talosControlPlaneResource, client);
  const statuses = createStatusWriter<TalosClusterAddon>(client, talosClusterAddonResource, clock, FIELD_MANAGER, events);

  const reconcile = async (key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult | undefined> => {
    if (addons.store.get(key) === undefined) {
      statuses.forget(keyText(key));
      return undefined;
    }
    // Live: what an older spec or selector said is not made, and nothing is uninstalled by it.
    const addon = await objects.tryGet(key);
    if (addon === undefined) return undefined;
    const mode = reconcileModeOf(addon.metadata);
    // Before its deletion, which uninstalls: what is left alone loses nothing.
    if (mode !== "reconcile") return { requeueAfterMs: await statuses.write(addon, pausedStatus(addon, [pausedCondition(mode)])) };
    if (addon.metadata.deletionTimestamp !== undefined) return removeAll(addon);
    const seen = look(addon);
    const decision = decideAddon(seen);
    const holding = decision.create.length + decision.fit.length > 0 ? await hold(addon) : addon;
    if (holding === undefined) return { requeueAfterMs: AGAIN_MS };
    const outcome = await carryOut(holding, decision, context);
    const again = await tell(holding, decision, outcome.refusals);
    const waits = [again, outcome.isBehind ? AGAIN_MS : undefined, outcome.refusals.length > 0 ? REFUSED_AGAIN_MS : undefined];
    const due = waits.filter((ms) => ms !== undefined);
    return due.length === 0 ? undefined : { requeueAfterMs: Math.min(...due) };
  };

  const look = (addon: TalosClusterAddon): AddonSeen => ({
    addon,
    problems: problemsOf(addon),
    clusters: clustersOf(controlPlanes.store.list(), talosClusters.store.list()),
    releases: releases.store.list(),
    addons: addons.store.list(),
    namespaces: new Map((namespaces?.store.list() ?? []).map(({ metadata }) => [metadata?.name ?? "", metadata?.annotations ?? {}])),
  });

  /** Nothing is made before the finalizer stands: what is made is taken back. */
  const hold = async (addon: TalosClusterAddon): Promise<TalosClusterAddon | undefined> => {
    try {
      return await addFinalizer(objects, addon, finalizers.talosClusterAddon);
    } catch (thrown) {
      if (isConflict(thrown) || isNotFound(thrown)) return undefined;
      throw thrown;
    }
  };

  interface Outcome {
    /** What the API server refused, in its words. */
    readonly refusals: readonly string[];
    /** Somebody was faster, or a cache was behind: the next pass sees it. */
    readonly isBehind: boolean;
  }

  /** One write after the other. A refused one holds up no other cluster. */
  const carryOut = async (addon: TalosClusterAddon, decision: AddonDecision, context: ReconcileContext): Promise<Outcome> => {
    const refusals: string[] = [];
    let isBehind = false;
    const attempt = async (name: string, write: () => Promise<TalosClusterAddonRelease | undefined>): Promise<void> => {
      try {
        const stored = await write();
        if (stored === undefined) isBehind = true;
        else context.wrote(releases, stored);
      } catch (thrown) {
        if (isAlreadyExists(thrown) || isConflict(thrown) || isNotFound(thrown)) isBehind = true;
        else if (isRefusedWrite(thrown)) refusals.push(`${name}: ${thrown.message}`);
        else throw thrown;
      }
    };
    const writes: (() => Promise<void>)[] = [
      ...decision.create.map(({ controlPlane }) => () => {
        const release = releaseFor(addon, controlPlane, undefined);
        return attempt(nameOf(release), () => made.create(release));
      }),
      ...decision.fit.map(
        ({ release, cluster }) =>
          () =>
            attempt(nameOf(release), () =>
              rewrite(release, (live) =>
                belongingOf(live, addon) === "other" ? undefined : releaseFor(addon, cluster.controlPlane, live),
              ),
            ),
      ),
      ...decision.mark.map(
        (release) => () =>
          attempt(nameOf(release), () => rewrite(release, (live) => (isOurs(live, addon) ? markedNotSelected(live) : undefined))),
      ),
      ...decision.remove.map((removal) => async () => {
        if (!(await remove(addon, removal))) isBehind = true;
      }),
    ];
    for (const write of writes.slice(0, MOST_WRITES)) {
      if (context.signal.aborted) break;
      await write();
    }
    if (writes.length > MOST_WRITES) isBehind = true;
    return { refusals, isBehind };
  };

  /** By compare-and-swap on the object as it is now. @returns `undefined` where it is another one by now */
  const rewrite = async (
    { metadata }: TalosClusterAddonRelease,
    change: (live: TalosClusterAddonRelease) => TalosClusterAddonRelease | undefined,
  ): Promise<TalosClusterAddonRelease | undefined> => {
    const live = await made.tryGet(metadata);
    if (live === undefined || live.metadata.uid !== metadata.uid || live.metadata.deletionTimestamp !== undefined) return undefined;
    const wanted = change(live);
    if (wanted === undefined) return undefined;
    const operations = patchBetween(live, wanted);
    return operations.length === 0 ? live : made.patch(metadata, { type: "json", operations });
  };

  /**
   * Lets a release go, which uninstalls it where its cluster stays. A cache may be minutes behind, so everything that speaks for it is read now.
   *
   * @returns false where it is not to go, or not this one's, as things are now
   */
  const remove = async (addon: TalosClusterAddon, { release, why }: Removal): Promise<boolean> => {
    const live = await made.tryGet(release.metadata);
    if (live === undefined || live.metadata.uid !== release.metadata.uid) return true;
    if (!isOurs(live, addon)) return false;
    const now = await lookNow(addon, live);
    const view = viewOf(now);
    const cluster = view.clusterOf(live);
    if (why === "cluster-gone" ? cluster !== undefined : cluster === undefined || selects(view, addon, cluster)) return false;
    await deleteExactly(made, live);
    return true;
  };

  /** What the word on one release depends on, read now. */
  const lookNow = async (addon: TalosClusterAddon, release: TalosClusterAddonRelease): Promise<AddonSeen> => {
    const { namespace } = release.metadata;
    const { items } = await client.resource<TalosCluster>(talosClusterResource).list({ namespace });
    const { kind, name = "" } = release.spec.clusterRef;
    const named = kind === "TalosCluster" ? items.find(({ metadata }) => metadata.name === name) : undefined;
    const controlPlane = await controlPlaneNow({ namespace, name: named?.spec?.controlPlaneRef?.name ?? name });
    const isForeign = namespace !== addon.metadata.namespace;
    const granting =
      isForeign && namespaces !== undefined ? await client.resource(namespaceType).tryGet({ name: namespace ?? "" }) : undefined;
    return {
      addon,
      problems: [],
      clusters: controlPlane === undefined ? [] : clustersOf([controlPlane], items),
      releases: [release],
      addons: [],
      namespaces: new Map([[namespace ?? "", granting?.metadata?.annotations ?? {}]]),
    };
  };

  /** Its releases go first, each with what it installed; as they are stored now, for one that was just made may not be in the cache. */
  const removeAll = async (addon: TalosClusterAddon): Promise<ReconcileResult | undefined> => {
    if (addon.metadata.finalizers?.includes(finalizers.talosClusterAddon) !== true) return undefined;
    const { namespace } = addon.metadata;
    const labelSelector = `${labels.addon}=${addonLabel(addon)}`;
    const [near, far] = await Promise.all([
      made.list({ namespace }),
      namespaces === undefined ? { items: [] } : made.list({ labelSelector }),
    ]);
    const ours = [...near.items, ...far.items.filter(({ metadata }) => metadata.namespace !== namespace)].filter((one) =>
      isOurs(one, addon),
    );
    // `kubectl delete --cascade=orphan`: they stay, and are nobody's from now on.
    if (isBeingOrphaned(addon.metadata)) {
      for (const release of ours) await rewrite(release, (live) => (isOurs(live, addon) ? withoutOwner(live, addon) : undefined));
      return { requeueAfterMs: AGAIN_MS };
    }
    if (ours.length === 0) {
      await removeFinalizer(objects, addon, finalizers.talosClusterAddon);
      return undefined;
    }
    const staying = ours.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const release of staying.slice(0, MOST_WRITES)) await deleteExactly(made, release);
    const [first] = ours;
    const message = `${ours.length === 1 ? "One release is" : `${ours.length} releases are`} being removed, the first is ${first === undefined ? "" : nameOf(first)}.`;
    const conditions = [conditionFor("Ready", "Deleting", message, addon.metadata.generation)];
    const { clusters = 0, notSelected = 0 } = addon.status ?? {};
    const fields = { clusters, ready: 0, failed: 0, notSelected };
    const again = await statuses.write(addon, judgedStatus(addon, fields, { conditions, hasOpenEffect: false }), 2_000);
    const next = staying.length > MOST_WRITES ? AGAIN_MS : REMOVED_AGAIN_MS;
    return { requeueAfterMs: Math.min(again ?? next, next) };
  };

  const tell = (addon: TalosClusterAddon, decision: AddonDecision, refusals: readonly string[]): Promise<number | undefined> => {
    const { generation } = addon.metadata;
    const [first] = refusals;
    const more = refusals.length > 1 ? ` And ${refusals.length - 1} more.` : "";
    const refused = `The API server refuses ${(first ?? "").slice(0, 1_024)}${more}`;
    const conditions = decision.conditions.map((condition) =>
      condition.type === "Ready" && first !== undefined
        ? conditionFor("Ready", "CreateOrUpdateReleaseFailed", refused, generation)
        : condition,
    );
    const { fields, parts } = decision;
    return statuses.write(addon, judgedStatus(addon, { ...fields }, { conditions, hasOpenEffect: false, parts }), 2_000);
  };

  const keysOf = (found: readonly TalosClusterAddon[]): readonly ObjectKey[] =>
    found.map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  const all = (): readonly ObjectKey[] => keysOf(addons.store.list());

  return createController({
    name: "talosclusteraddon",
    ...commonOptions(options),
    backoff: { baseMs: 200, maxMs: 30_000 },
    reconcile,
    watches: [
      watchOf({ informer: addons, why: "the addon is the work item", predicate: (delta) => !statuses.isOwn(delta) }),
      watchOf({
        informer: addons,
        why: "another addon may ask for the same Helm release, or be in the way of a cycle",
        map: (addon) => keysOf(addons.store.byIndex("helmRelease", releaseTextOfAddon(addon))),
        predicate: specOrMetadataChanged,
        priority: "low",
      }),
      watchOf({
        informer: releases,
        why: "an addon sums up its releases",
        map: ({ metadata }) => {
          const owners = keysOf(addons.store.byIndex("label", metadata.labels?.[labels.addon] ?? ""));
          const owner = metadata.ownerReferences?.find(({ kind }) => kind === "TalosClusterAddon");
          return owner === undefined ? owners : [...owners, { namespace: metadata.namespace, name: owner.name }];
        },
        priority: "low",
      }),
      watchOf({
        informer: releases,
        why: "one that somebody else made may hold the Helm release that an addon asks for",
        map: (release) => keysOf(addons.store.byIndex("helmRelease", releaseTextOf(release))),
        predicate: specOrMetadataChanged,
        priority: "low",
      }),
      watchOf({ informer: controlPlanes, why: "clusters are selected by labels", map: all, predicate: selectionChanged, priority: "low" }),
      watchOf({
        informer: talosClusters,
        why: "clusters are selected by the labels of their TalosCluster, too",
        map: all,
        predicate: (delta) =>
          selectionChanged(delta) ||
          (delta.type === "updated" && delta.object.spec?.controlPlaneRef?.name !== delta.previous.spec?.controlPlaneRef?.name),
        priority: "low",
      }),
      ...(namespaces === undefined
        ? []
        : [
            watchOf({
              informer: namespaces,
              why: "a Namespace grants addons of others, or no longer",
              map: all,
              predicate: (delta) => grantOf(delta.object) !== (delta.type === "updated" ? grantOf(delta.previous) : undefined),
              priority: "low",
            }),
          ]),
    ],
  });
}

/** True when an object appears, goes, begins to go or gets other labels. */
function selectionChanged<T extends KubeObject>(delta: Delta<T>): boolean {
  if (delta.type !== "updated") return true;
  const text = ({ metadata }: KubeObject): string => JSON.stringify([metadata?.labels ?? {}, metadata?.deletionTimestamp, metadata?.uid]);
  return text(delta.object) !== text(delta.previous);
}

function grantOf({ metadata }: KubeObject): string | undefined {
  return metadata?.annotations?.[annotations.addonsFrom];
}

function nameOf({ metadata }: TalosClusterAddonRelease): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
