import { finalizers, isConditionTrue, reconcileModeOf, talosClusterAddonReleaseResource } from "@talos-operator/api";
import type { AddonRun, Finding, TalosClusterAddonRelease } from "@talos-operator/api";
import type { AddonSecrets, AddonTask } from "@talos-operator/helm";
import { addFinalizer, createController, keyText, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, Informer, ObjectKey, ReconcileResult } from "@talos-operator/kube-runtime";
import type { Keys, WorkloadDialer } from "@talos-operator/ports";
import { helmOptionsOf } from "../../addons/helm-options.ts";
import { kubeconfigFor } from "../../addons/kubeconfig.ts";
import type { AddonRunner, HelmPresence } from "../../addons/runner.ts";
import { manifestsWishOf } from "../../addons/manifests-wish.ts";
import type { ManifestsWish } from "../../addons/manifests-wish.ts";
import { wishOf } from "../../addons/wish.ts";
import type { ReleaseWish } from "../../addons/wish.ts";
import { isEffectError } from "../../errors.ts";
import { demandLead } from "../../leading.ts";
import type { Leading } from "../../leading.ts";
import { createBundleStore, usableBundle } from "../../secrets/bundle-store.ts";
import type { Telling } from "../../telling/telling.ts";
import { openWorkloadApi } from "../../workload/workload-api.ts";
import type { ListedRun } from "../../workers/runner.ts";
import { commonOptions } from "../shared/controller-ports.ts";
import type { ControllerPorts, TalosCaches } from "../shared/controller-ports.ts";
import { judgedStatus, pausedMemory, pausedStatus } from "../shared/kstatus.ts";
import { pausedCondition } from "../shared/mode.ts";
import { namespaceTerminates } from "../shared/namespace-terminates.ts";
import { createStatusWriter } from "../shared/status-writer.ts";
import { clusterOf, controlPlaneOf, isOpenNow } from "./cluster-of.ts";
import type { ClusterOfRelease } from "./cluster-of.ts";
import { decideRelease } from "./decide.ts";
import { taskTimeoutMs } from "./begin.ts";
import { decidePreview, unknownPlan } from "./preview.ts";
import { lacksNetwork, withoutWaits } from "./without-network.ts";
import { driftPolicy } from "./drift.ts";
import { hasInventory, isKnownToHelm, NOT_THERE, unreadyWorkloads } from "./health.ts";
import type { SeenHealth } from "./health.ts";
import { createLooks } from "./looks.ts";
import { nameBeforeBegin } from "./kept-name.ts";
import { isManifestsRelease, isManifestsWish, reapplyAt, wasInstalled } from "./manifests.ts";
import { manifestsTask } from "./manifests-task.ts";
import { readManifests } from "./read-manifests.ts";
import { turnsOf } from "./turns.ts";
import { taskTimeOf } from "./time-of-run.ts";
import { readAccess, readValues } from "./read-values.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { ReleaseDecision, ReleaseSeen, SeenWish } from "./model.ts";

const FIELD_MANAGER = "talos-operator/talosclusteraddonrelease";

/** A status that could not be stored, or a race that was lost: the next pass comes so soon. Milliseconds. */
const AGAIN_MS = 500;

/** How often what a release runs is looked at: while it is not ready, and once it is. Milliseconds. */
const UNREADY_LOOK_MS = 5_000;
const READY_LOOK_MS = 20 * 60_000;

/** Whether the cluster of a release that is deleted and paused goes is looked at so often. Milliseconds. */
const PAUSED_LOOK_MS = 60_000;

/** Longest that one question to a cluster may take. Milliseconds. */
const CALL_MS = 5_000;

/** What the controller of releases needs. */
export interface ReleaseControllerOptions extends ControllerPorts, Pick<TalosCaches, "controlPlanes" | "talosClusters"> {
  readonly releases: Informer<TalosClusterAddonRelease>;
  readonly runner: AddonRunner;
  /** Whether there is a Helm; default: nobody can tell from here, and the worker says. */
  readonly helm?: HelmPresence;
  /** To the clusters' own APIs: what a release runs is looked at there. Without it nobody looks. */
  readonly workloads?: WorkloadDialer;
  readonly keys: Keys;
  readonly leading: Leading;
  readonly events: Telling;
  readonly validate: (release: TalosClusterAddonRelease) => readonly Finding[];
  /** Repositories by http, and OCI ones without TLS: the demo's own alone. Default: false. */
  readonly allowPlainText?: boolean;
}

/** What one pass over a release read. */
interface View {
  readonly seen: ReleaseSeen;
  readonly cluster: ClusterOfRelease;
  readonly wish: ReleaseWish | ManifestsWish | undefined;
}

/** What a run is given. */
interface RunInput {
  readonly task: AddonTask;
  readonly secrets: AddonSecrets;
}

/** Installs, changes and removes Helm releases by workers. One pass at a time in a process: what may run at once is counted before each begin. */
export function createReleaseController(options: ReleaseControllerOptions): Controller {
  const { client, clock, random, releases, runner, leading, events, keys } = options;
  const objects = client.resource<TalosClusterAddonRelease>(talosClusterAddonReleaseResource);
  const bundles = createBundleStore(client);
  const statuses = createStatusWriter<TalosClusterAddonRelease>(client, talosClusterAddonReleaseResource, clock, FIELD_MANAGER, events, {
    isMemory: true,
  });
  const looks = createLooks<ObjectKey>(clock, (wake) => controller.enqueue(wake));

  const reconcile = async (key: ObjectKey): Promise<ReconcileResult | undefined> => {
    // Live: what an earlier pass wrote decides what this one may do, and a cache may not show it yet.
    const release = await objects.tryGet(key);
    const runs = await runner.list();
    // An object that was deleted while nobody watched is told by nothing but what it left.
    for (const { owner } of runs)
      if (owner.name !== key.name && releases.store.get(owner) === undefined)
        controller.enqueue({ namespace: owner.namespace, name: owner.name });
    if (release === undefined) {
      statuses.forget(keyText(key));
      await tidyUp(key, runs, undefined);
      return undefined;
    }
    const mode = reconcileModeOf(release.metadata);
    if (mode === "dryrun" && release.metadata.deletionTimestamp === undefined) {
      const view = await observe(release, runs);
      return follow(release, runs, view, decidePreview(view.seen), tellPreview);
    }
    if (mode !== "reconcile" && (await isHeldByItsPause(release))) {
      // The time that a deletion takes does not run meanwhile.
      const again = await statuses.write(release, pausedMemory(release, [pausedCondition(mode)], { uninstallStartTime: undefined }));
      return { requeueAfterMs: again ?? (release.metadata.deletionTimestamp === undefined ? undefined : PAUSED_LOOK_MS) };
    }
    const view = await observe(release, runs);
    return follow(release, runs, view, decideRelease(view.seen), tell);
  };

  /** Does what was decided, and says it first. */
  const follow = async (
    release: TalosClusterAddonRelease,
    runs: readonly ListedRun[],
    { seen, cluster, wish }: View,
    decision: ReleaseDecision,
    tellIt: typeof tell,
  ): Promise<ReconcileResult | undefined> => {
    const key = release.metadata;
    switch (decision.act.kind) {
      case "add-finalizer":
        await addFinalizer(objects, release, finalizers.talosClusterAddonRelease);
        return { requeueAfterMs: 0 };
      case "remove-finalizer":
        await tidyUp(key, runs, undefined);
        await removeFinalizer(objects, release, finalizers.talosClusterAddonRelease);
        looks.forget(release.metadata.uid ?? "");
        tellNews(release, decision);
        return undefined;
      case "begin":
      case "start": {
        const { run } = decision.act;
        const input = await inputOf(release, decision, run, cluster, wish);
        // It may wait, and what Ready says is no matter of it.
        if ("waits" in input && run.task === "inspect") return { requeueAfterMs: READY_LOOK_MS };
        if ("waits" in input && run.task === "preview") {
          const { conditions, fields, requeueAfterMs } = unknownPlan(seen, input.waits);
          return { requeueAfterMs: (await tellIt(release, { ...decision, conditions, fields })) ?? requeueAfterMs };
        }
        if ("waits" in input)
          return { requeueAfterMs: (await tellIt(release, withWords(decision, input.waits, release))) ?? decision.requeueAfterMs };
        if (!(await isOpenNow(key.namespace, seen.cluster, client))) return { requeueAfterMs: AGAIN_MS };
        await demandLead(leading);
        const again = await tellIt(release, decision);
        if (again !== undefined) return { requeueAfterMs: again };
        await start(release, run, input);
        return { requeueAfterMs: decision.requeueAfterMs };
      }
      case "none": {
        const again = await tellIt(release, decision);
        if (again !== undefined) return { requeueAfterMs: again };
        // Only once the status is stored: what the run told is known by nothing else.
        await tidyUp(key, runs, decision.fields.run?.name);
        return { requeueAfterMs: decision.requeueAfterMs };
      }
    }
  };

  /** A pause holds the deletion, too, as that of an addon does: but not once there is nothing left to uninstall, nor what is being uninstalled already. */
  const isHeldByItsPause = async (release: TalosClusterAddonRelease): Promise<boolean> => {
    if (release.metadata.deletionTimestamp === undefined) return true;
    if (release.status?.releaseName === undefined || release.status.run?.task === "uninstall") return false;
    const { seen } = await clusterOf(release, options, client);
    return seen.kind !== "absent" && seen.kind !== "going";
  };

  const observe = async (release: TalosClusterAddonRelease, runs: readonly ListedRun[]): Promise<View> => {
    const { namespace } = release.metadata;
    const isGoing = release.metadata.deletionTimestamp !== undefined;
    const cluster = await clusterOf(release, options, client);
    const wish = isGoing ? ({ kind: "not-asked" } as const) : await wishFor(release, cluster);
    const helm = cluster.seen.kind === "present" ? await options.helm?.() : undefined;
    const seen: ReleaseSeen = {
      now: clock.now(),
      release,
      problems: options.validate(release),
      isTerminating: isGoing ? false : await namespaceTerminates(namespace, client),
      cluster: cluster.seen,
      wish,
      unready: (release.spec.dependsOn ?? []).flatMap((name) => {
        const other = releases.store.get({ namespace, name });
        return isConditionTrue(other?.status?.conditions, "Ready") ? [] : [{ name, isThere: other !== undefined }];
      }),
      // Objects need a worker, and no Helm.
      withoutHelm: helm?.found === false && (helm.withoutWorkers === true || !isManifestsRelease(release)) ? helm.message : undefined,
      run: release.status?.run === undefined ? undefined : await runner.look(release.status.run.name),
      ...turnsOf(release, runs, releases.store.list()),
      health: isGoing ? undefined : healthOf(release, cluster, wish),
    };
    return { seen, cluster, wish: wish.kind === "there" ? wish.wish : undefined };
  };

  const wishFor = async ({ metadata, spec, status }: TalosClusterAddonRelease, { facts, values }: ClusterOfRelease): Promise<SeenWish> => {
    if (facts === undefined || values === undefined) return { kind: "not-asked" };
    if (spec.manifests !== undefined) {
      const sources = await readManifests(spec.manifests, metadata.namespace ?? "", client);
      if (sources.kind === "missing") return sources;
      const { manifests, namespaceLabels } = spec;
      const asked = { manifests, ...(namespaceLabels === undefined ? {} : { namespaceLabels }) };
      return { kind: "there", wish: manifestsWishOf(metadata.name, asked, sources.value), isSetSyntax: false };
    }
    if (spec.helmSpec === undefined) return { kind: "not-asked" };
    const read = await readValues(spec.helmSpec, values, metadata.namespace ?? "", client);
    if (read.kind === "missing") return read;
    const { documents, hidden, isSetSyntax } = read.value;
    const wish = wishOf(spec, documents, facts.kubernetesVersion, status?.chart, options.allowPlainText === true);
    return wish === undefined ? { kind: "not-asked" } : { kind: "there", wish: { ...wish, hidden }, isSetSyntax };
  };

  /** Looks at what a settled release runs, when it is time. */
  const healthOf = (release: TalosClusterAddonRelease, { facts }: ClusterOfRelease, wish: SeenWish): SeenHealth | undefined => {
    const {
      metadata: { uid = "", namespace },
      status,
    } = release;
    const { inputs, run, rolledBack } = status ?? {};
    if (facts === undefined || run !== undefined || wish.kind !== "there") return undefined;
    if (wish.wish.inputs !== inputs && wish.wish.inputs !== rolledBack?.from) return undefined;
    const now = clock.now();
    const mayBeMadeAnew = release.spec.manifests?.mode !== "Once";
    const total = status?.workloads?.length ?? 0;
    if (total === 0 || options.workloads === undefined)
      return soonEnough({ kind: "seen", ready: total, total, waiting: [], lookAgainMs: atRest() }, reapplyAt(release), now);
    const wanted = { uid, inputs, place: facts.controlPlaneUid, wake: release.metadata };
    return soonEnough(
      looks.healthOf(wanted, () => lookAt(facts, namespace, status ?? {}, mayBeMadeAnew)),
      reapplyAt(release),
      now,
    );
  };

  const atRest = (): number => Math.round(READY_LOOK_MS * (0.9 + 0.2 * random.fraction()));

  const lookAt = async (
    facts: ClusterFacts,
    namespace: string | undefined,
    { workloads = [], releaseName: name = "", releaseNamespace = "", manifests }: NonNullable<TalosClusterAddonRelease["status"]>,
    mayBeMadeAnew: boolean,
  ): Promise<SeenHealth> => {
    const total = workloads.length;
    const { workloads: dialer } = options;
    if (dialer === undefined) return { kind: "seen", ready: total, total, waiting: [], lookAgainMs: atRest() };
    try {
      const place = {
        addresses: () => addressesOf(facts),
        endpoint: facts.endpoint,
        authority: async () => usableBundle(await bundles.read({ namespace, name: facts.bundle.secretName }), facts.bundle).certs.k8s,
      };
      const api = await openWorkloadApi({ kind: "addons" }, place, { dialer, keys, clock });
      try {
        const waiting = await unreadyWorkloads(api.client, workloads, CALL_MS);
        if (
          mayBeMadeAnew &&
          waiting.length === total &&
          waiting.every((one) => one.includes(NOT_THERE)) &&
          !(manifests === undefined
            ? await isKnownToHelm(api.client, { name, namespace: releaseNamespace }, CALL_MS)
            : await hasInventory(api.client, manifests.inventory, CALL_MS))
        )
          return { kind: "gone", ready: undefined, lookAgainMs: UNREADY_LOOK_MS };
        return {
          kind: "seen",
          ready: total - waiting.length,
          total,
          waiting,
          lookAgainMs: waiting.length === 0 ? atRest() : UNREADY_LOOK_MS,
        };
      } finally {
        api.close();
      }
    } catch (thrown) {
      options.log.debug({ err: thrown }, "What a release runs cannot be looked at");
      return { kind: "unreachable", message: "The API of the cluster does not answer.", ready: undefined, lookAgainMs: UNREADY_LOOK_MS };
    }
  };

  /** Reads what a run needs beside what it is to do. */
  const inputOf = async (
    release: TalosClusterAddonRelease,
    { fields }: ReleaseDecision,
    run: AddonRun,
    { seen, facts }: ClusterOfRelease,
    wish: ReleaseWish | ManifestsWish | undefined,
  ): Promise<RunInput | { readonly waits: string }> => {
    const { namespace = "", uid = "" } = release.metadata;
    // Nothing is begun by who only asks, so nothing has a name yet.
    const asked = run.task === "preview" && wish !== undefined ? wish.release : undefined;
    const { releaseName = asked?.name, releaseNamespace = asked?.namespace } = fields;
    if (facts === undefined || releaseName === undefined || releaseNamespace === undefined)
      return { waits: "What is known of the cluster changed." };
    const forMs = taskTimeOf(run, taskTimeoutMs(release));
    try {
      const { certs } = usableBundle(await bundles.read({ namespace, name: facts.bundle.secretName }), facts.bundle);
      const kubeconfig = await kubeconfigFor({ endpoint: facts.endpoint, authority: certs.k8s, forMs }, keys, clock);
      const base = {
        release: { name: releaseName, namespace: releaseNamespace },
        owner: uid,
        timeoutMs: forMs,
        endedRuns: fields.endedRuns ?? [],
        run: run.id,
      };
      if (isManifestsRelease(release)) {
        const task = manifestsTask(release, run, base, wish !== undefined && isManifestsWish(wish) ? wish : undefined);
        return task === undefined
          ? { waits: "What is to be applied cannot be read." }
          : { task: task.task, secrets: { kubeconfig, values: [], texts: task.texts } };
      }
      const withoutValues = { kubeconfig, values: [] };
      const helmOptions = helmOptionsOf(release.spec.helmSpec?.options);
      if (run.task === "uninstall") return { task: { ...base, kind: "uninstall", options: helmOptions }, secrets: withoutValues };
      if (run.task === "rollback")
        return { task: { ...base, kind: "rollback", revision: run.revision ?? 0, options: helmOptions }, secrets: withoutValues };
      if (run.task === "inspect")
        return { task: { ...base, kind: "inspect", ignore: driftPolicy(release.spec)?.ignore ?? [] }, secrets: withoutValues };
      // What it was begun for is not what is wanted by now: it is late one day, or found done, and the next one is begun.
      if (wish === undefined || isManifestsWish(wish) || release.spec.helmSpec === undefined)
        return { waits: "What is to be installed cannot be read." };
      const access = await readAccess(release.spec.helmSpec, namespace, client);
      if (access.kind === "missing") return { waits: access.message };
      const secrets = { kubeconfig, values: wish.values, ...(access.value === undefined ? {} : { repository: access.value }) };
      if (run.task === "preview") {
        const { endedRuns: _ended, run: _run, ...asking } = base;
        const { release: name, chart, options: switches } = wish;
        return {
          task: { ...asking, kind: "preview", release: name, chart, options: switches, unowned: "adopt" },
          secrets: { ...secrets, hidden: wish.hidden ?? [] },
        };
      }
      const { namespaceLabels, rollback } = release.spec;
      const isWithoutNetwork = "name" in seen && lacksNetwork(options.controlPlanes.store.get({ namespace, name: seen.name }), facts);
      return {
        task: {
          ...base,
          kind: "apply",
          ...(run.beyond === undefined ? {} : { beyond: run.beyond }),
          release: wish.release,
          chart: wish.chart,
          inputs: wish.inputs,
          options: isWithoutNetwork ? withoutWaits(wish.options) : wish.options,
          unowned: "adopt",
          rollbackOnFailure: rollback === "lastGood",
          ...(namespaceLabels === undefined ? {} : { namespaceLabels }),
        },
        secrets,
      };
    } catch (thrown) {
      if (isEffectError(thrown, "KEYS_UNUSABLE")) return { waits: `Keys of the cluster: ${thrown.detail}.` };
      throw thrown;
    }
  };

  const start = async (release: TalosClusterAddonRelease, run: AddonRun, { task, secrets }: RunInput): Promise<void> => {
    const { namespace = "", name, uid = "" } = release.metadata;
    // What it runs is looked at anew when it has ended.
    looks.forget(uid);
    await runner.start({ name: run.name, task, secrets, owner: { namespace, name, uid } });
    options.log.info({ release: name, namespace, run: run.name, task: run.task }, "Started a run of an addon");
  };

  /** @returns when to come again because the status is not stored; `undefined` = it is */
  const tell = async (release: TalosClusterAddonRelease, decision: ReleaseDecision): Promise<number | undefined> => {
    const status = judgedStatus(release, decision.fields, { conditions: decision.conditions, hasOpenEffect: decision.isBusy });
    const again = await statuses.write(release, status);
    if (again === undefined) tellNews(release, decision);
    return again;
  };

  /** Beside what is left as it is. */
  const tellPreview: typeof tell = async (release, decision) => {
    const paused = pausedStatus(release, [pausedCondition("dryrun"), ...decision.conditions]);
    const again = await statuses.write(release, { ...paused, fields: decision.fields });
    if (again === undefined) tellNews(release, decision);
    return again;
  };

  /** Events, once what they tell is stored: a pass that is repeated tells it once. */
  const tellNews = (release: TalosClusterAddonRelease, { news }: ReleaseDecision): void => {
    for (const { reason, note } of news) events.tell(release, reason, reason, note);
  };

  /** Ends runs of objects of this name that the status does not name. */
  const tidyUp = async (key: ObjectKey, runs: readonly ListedRun[], named: string | undefined): Promise<void> => {
    const own = runs.filter(({ owner, name }) => name !== named && owner.name === key.name && owner.namespace === (key.namespace ?? ""));
    for (const { name } of own) await runner.remove(name);
    // What waits for its turn looks again at once.
    if (own.length > 0)
      for (const { metadata, status } of releases.store.list())
        if (status?.run === undefined && !isConditionTrue(status?.conditions, "Ready") && metadata.name !== key.name)
          controller.enqueue(metadata);
  };

  /** Releases that wait for this control plane. */
  const releasesOf = ({ namespace, name }: ObjectKey): readonly ObjectKey[] =>
    releases.store
      .list(namespace)
      .filter((release) => {
        const named = controlPlaneOf(release, options.talosClusters);
        return "name" in named && named.name === name;
      })
      .map(({ metadata }) => metadata);

  const controller: Controller = createController({
    name: "talosclusteraddonrelease",
    ...commonOptions(options),
    workers: 1,
    backoff: { baseMs: AGAIN_MS, maxMs: 30_000 },
    reconcile,
    watches: [
      watchOf({ informer: releases, why: "the release is the work item", predicate: (delta) => !statuses.isOwn(delta) }),
      watchOf({
        informer: releases,
        why: "another release depends on it",
        predicate: (delta) => delta.type !== "deleted",
        map: ({ metadata }) =>
          releases.store
            .list(metadata.namespace)
            .filter((release) => release.spec.dependsOn?.includes(metadata.name) === true && !wasInstalled(release))
            .map((release) => release.metadata),
        priority: "low",
      }),
      watchOf({
        informer: options.controlPlanes,
        why: "a release waits for the cluster that it names",
        predicate: (delta) => delta.type !== "updated",
        map: ({ metadata }) => releasesOf(metadata),
        priority: "low",
      }),
    ],
  });
  return controller;
}

function withWords(decision: ReleaseDecision, words: string, release: TalosClusterAddonRelease): ReleaseDecision {
  const conditions = decision.conditions.map((one) =>
    one.type === "Ready" ? { ...one, message: `${one.message} It cannot begin: ${words}` } : one,
  );
  const { run: _, ...fields } = decision.fields;
  return decision.act.kind === "begin"
    ? { ...decision, conditions, fields: { ...fields, ...nameBeforeBegin(release), run: undefined }, isBusy: false }
    : { ...decision, conditions };
}

/** What is to be applied again is looked at by then. */
function soonEnough(health: SeenHealth, again: number | undefined, now: number): SeenHealth {
  return again === undefined ? health : { ...health, lookAgainMs: Math.min(health.lookAgainMs, Math.max(READY_LOOK_MS / 30, again - now)) };
}

function addressesOf(facts: ClusterFacts): readonly string[] {
  return facts.machines
    .filter(({ role, releasedAt, address }) => role === "controlplane" && releasedAt === undefined && address !== "")
    .map(({ address }) => address);
}
