import {
  annotations,
  clusterRecordResource,
  findingsMessage,
  finalizers,
  reconcileModeOf,
  talosEtcdBackupResource,
} from "@talos-operator/api";
import type { BackupOptions, BackupRun, ClusterRecord, TalosEtcdBackup } from "@talos-operator/api";
import { addFinalizer, createController, deleteExactly, keyText, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, Informer, ObjectKey, ReconcileResult } from "@talos-operator/kube-runtime";
import type { Keys } from "@talos-operator/ports";
import type { BackupRunner } from "../../backups/runner.ts";
import { BEGINS_WITHIN_MS } from "../../workers/runner.ts";
import type { ListedRun } from "../../workers/runner.ts";
import { isEffectError } from "../../errors.ts";
import { demandLead } from "../../leading.ts";
import type { Leading } from "../../leading.ts";
import { fingerprintSecretsBundle } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { createBundleStore, usableBundle } from "../../secrets/bundle-store.ts";
import { mintCredentials } from "../../secrets/credentials.ts";
import type { Telling } from "../../telling/telling.ts";
import { commonOptions } from "../shared/controller-ports.ts";
import type { ControllerPorts, TalosCaches } from "../shared/controller-ports.ts";
import { judgedStatus, pausedMemory } from "../shared/kstatus.ts";
import { pausedCondition } from "../shared/mode.ts";
import { namespaceTerminates } from "../shared/namespace-terminates.ts";
import { createStatusWriter } from "../shared/status-writer.ts";
import type { Brain } from "../../reconcilers/brain.ts";
import { readRecord } from "../../record/facts-codec.ts";
import type { BackupFigures } from "../../metrics/backup-figures.ts";
import { controlPlaneNamed } from "./cluster-name.ts";
import { claimOf, claimSnapshot, readClaims, releaseSnapshot } from "./claim.ts";
import { decideBackup } from "./decide.ts";
import { hasFailed, isStored } from "./phase.ts";
import { taskTimeoutMs } from "./run.ts";
import type { BackupDecision, BackupNews, BackupSeen, Needs, SeenCluster } from "./model.ts";
import { readKey, readStoreKeys } from "./store-keys.ts";
import { problemsOf, readStoreNeeds } from "./store-needs.ts";
import { knownOf, otherTakes, secretsOf, taskOf } from "./tasks.ts";
import type { RunInput } from "./tasks.ts";

const FIELD_MANAGER = "talos-operator/talosetcdbackup";

/** A status that could not be stored, or a race that was lost: the next pass comes so soon. Milliseconds. */
const AGAIN_MS = 500;

/** How often the keys of a store are looked at while a run uses them. Milliseconds. */
const KEYS_MS = 30_000;

/** How often a finished run that nobody could take away is tried again. Milliseconds. */
const TIDY_MS = 10_000;

/** Keys of a cluster, read live. In memory only. */
type ClusterKeys =
  | { readonly kind: "read"; readonly bundle: SecretsBundle; readonly record?: ClusterRecord }
  | { readonly kind: "missing"; readonly reason: "ControlPlaneNotFound" | "KeysNotReadable"; readonly message: string };

/** What the controller of backups needs. */
export interface BackupControllerOptions extends ControllerPorts, TalosCaches {
  readonly backups: Informer<TalosEtcdBackup>;
  readonly runner: BackupRunner;
  readonly brain: Pick<Brain, "backupSourcesOf" | "foundBundleOf" | "snapshotEnded">;
  readonly keys: Keys;
  readonly leading: Leading;
  readonly events: Telling;
  /** What validation of specs knows of this operator. */
  readonly limits: BackupOptions;
  /** Where figures of backups go; without it nowhere. */
  readonly backupFigures?: BackupFigures;
}

/** Takes, proves and removes backups by workers. One pass at a time in a process: what may run at once is counted before each begin. */
export function createBackupController(options: BackupControllerOptions): Controller {
  const { client, clock, backups, runner, brain, leading, events, limits } = options;
  const objects = client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  const records = client.resource<ClusterRecord>(clusterRecordResource);
  const bundles = createBundleStore(client);
  const statuses = createStatusWriter<TalosEtcdBackup>(client, talosEtcdBackupResource, clock, FIELD_MANAGER, events, { isMemory: true });
  /** Since when a backup waits for a disruption, by UID. A new process counts anew. */
  const waitingSince = new Map<string, number>();
  /** When the keys of its store were last looked at for a run that goes on, by name of the run. */
  const keysLookedAt = new Map<string, number>();
  /** UIDs of backups that left no run and no claim behind, as this process saw. */
  const tidied = new Set<string>();

  const reconcile = async (key: ObjectKey): Promise<ReconcileResult | undefined> => {
    // Live: what an earlier pass wrote decides what this one may do, and a cache may not show it yet.
    const backup = await objects.tryGet(key);
    const runs = await runner.list();
    // An object that was deleted while nobody watched is told by nothing but what it left.
    for (const { owner } of runs)
      if (owner.name !== key.name && backups.store.get(owner) === undefined)
        controller.enqueue({ namespace: owner.namespace, name: owner.name });
    if (backup === undefined) {
      statuses.forget(keyText(key));
      await tidyUp(key, runs, undefined);
      return undefined;
    }
    const uid = backup.metadata.uid ?? "";
    const mode = reconcileModeOf(backup.metadata);
    if (mode !== "reconcile" && backup.metadata.deletionTimestamp === undefined) {
      return { requeueAfterMs: await statuses.write(backup, pausedMemory(backup, [pausedCondition(mode)])) };
    }
    const first = await observe(backup, runs, { kind: "not-asked" });
    const draft = decideBackup(first);
    if (draft === undefined) return undefined;
    const { needs, input } =
      draft.act.kind === "begin" || draft.act.kind === "start"
        ? await read(withFields(backup, draft), draft.act.run, first.cluster)
        : { needs: first.needs, input: undefined };
    const decision = (needs.kind === "not-asked" ? draft : decideBackup({ ...first, needs })) ?? draft;
    if (decision.waitsForDisruption) waitingSince.set(uid, Math.min(waitingSince.get(uid) ?? clock.now(), clock.now()));
    else waitingSince.delete(uid);

    switch (decision.act.kind) {
      case "add-finalizer":
        await addFinalizer(objects, backup, finalizers.talosEtcdBackup);
        return { requeueAfterMs: 0 };
      case "remove-finalizer":
        await tidyUp(key, runs, undefined);
        await removeFinalizer(objects, backup, finalizers.talosEtcdBackup);
        tellNews(backup, decision);
        return undefined;
      case "delete":
        await deleteExactly(objects, backup);
        return undefined;
      case "begin":
        return begin(backup, decision, decision.act.run, first.cluster, input);
      case "start":
        if (input === undefined) return { requeueAfterMs: (await tell(backup, decision)) ?? decision.requeueAfterMs };
        await demandLead(leading);
        await start(withFields(backup, decision), decision.act.run, input);
        return { requeueAfterMs: (await tell(backup, decision)) ?? decision.requeueAfterMs };
      case "none": {
        const again = await tell(backup, decision);
        await renewKeys(backup, decision, first);
        await claimLate(backup, decision, first);
        if (again !== undefined) return { requeueAfterMs: again };
        // Only once the status is stored: what the run told is known by nothing else.
        const isTidy =
          tidied.has(uid) && backup.status?.run === undefined
            ? true
            : await tidyUp(key, runs, decision.fields.run?.name, backup.status?.controlPlane);
        if (isTidy && decision.fields.run === undefined) tidied.add(uid);
        else tidied.delete(uid);
        return { requeueAfterMs: isTidy ? decision.requeueAfterMs : Math.min(decision.requeueAfterMs ?? TIDY_MS, TIDY_MS) };
      }
    }
  };

  const observe = async (backup: TalosEtcdBackup, runs: readonly ListedRun[], needs: Needs): Promise<BackupSeen> => {
    const { namespace, uid } = backup.metadata;
    const isOpen = backup.status?.run !== undefined;
    const isDone = backup.status?.filename !== undefined && backup.metadata.deletionTimestamp === undefined;
    return {
      now: clock.now(),
      backup,
      problems: problemsOf(backup, limits),
      isTerminating: isDone && !isOpen ? false : await namespaceTerminates(namespace, client),
      cluster:
        isDone && !isOpen && !isProofAsked(backup) ? { kind: "absent", message: "Nobody asks for it any more." } : await clusterOf(backup),
      needs,
      run: backup.status?.run === undefined ? undefined : await runner.look(backup.status.run.name),
      othersRunning: runs.filter((run) => !run.hasEnded && run.owner.uid !== uid).length,
      waitingSince: waitingSince.get(uid ?? ""),
    };
  };

  const clusterOf = async (backup: TalosEtcdBackup): Promise<SeenCluster> => {
    const { namespace } = backup.metadata;
    const name = nameOf(backup);
    if ("message" in name) return { kind: "absent", message: name.message };
    const key = { namespace, name: name.controlPlane };
    if (options.controlPlanes.store.get(key) === undefined) return { kind: "absent", message: `TalosControlPlane ${key.name} not found.` };
    const sources = brain.backupSourcesOf(key);
    if (sources === "not-looked") return { kind: "not-looked", name: key.name };
    if (sources === undefined)
      return { kind: "absent", message: `TalosControlPlane ${key.name} has no etcd that this operator bootstrapped or took over.` };
    if ("why" in sources) return { kind: "absent", message: `The import of TalosControlPlane ${key.name} is pending. ${sources.why}` };
    const claims = await readClaims(key, client, clock.now());
    // It was taken over a moment ago: the next pass of the brain knows it by its record.
    if (sources.foundKeys !== undefined && claims.hasRecord) return { kind: "not-looked", name: key.name };
    return { kind: "present", name: key.name, sources, claims };
  };

  const nameOf = ({ metadata, spec, status }: TalosEtcdBackup): { readonly controlPlane: string } | { readonly message: string } => {
    // What it was taken of stays, whatever becomes of the reference.
    if (status?.controlPlane !== undefined && status.filename !== undefined) return { controlPlane: status.controlPlane };
    const controlPlane = controlPlaneNamed({ metadata, spec }, options.talosClusters.store);
    return controlPlane === undefined ? { message: `TalosCluster ${spec.clusterRef?.name ?? ""} not found.` } : { controlPlane };
  };

  /** Reads what a run needs: keys of the cluster, of the store, and the identity of a drill. */
  const read = async (
    backup: TalosEtcdBackup,
    run: BackupRun,
    cluster: SeenCluster,
  ): Promise<{ readonly needs: Needs; readonly input: RunInput | undefined }> => {
    const namespace = backup.metadata.namespace ?? "";
    const missing = (reason: Extract<Needs, { readonly kind: "missing" }>["reason"], message: string) =>
      ({ needs: { kind: "missing", reason, message }, input: undefined }) as const;
    const problems = run.task === "take" ? [] : problemsOf(backup, limits);
    if (problems[0] !== undefined) return missing(problems[0].reason, findingsMessage(problems));
    const own = await keysOf(backup, cluster);
    // What was stored is known by the status: it is proved and removed also when its cluster is gone, and its keys with it.
    const isKnown = run.task !== "take" && knownOf(backup) !== undefined;
    if (own.kind === "missing" && !isKnown) return missing(own.reason, own.message);
    const { bundle, record } = own.kind === "read" ? own : {};
    const store = await readStoreNeeds(backup, client, limits);
    if (store.kind === "missing") return { needs: store, input: undefined };
    const selector = run.task === "prove" ? backup.spec.drill?.identitySecretRef : undefined;
    const identity = selector === undefined ? undefined : await readKey(selector, namespace, client);
    if (identity?.kind === "missing") return missing("KeysNotReadable", identity.message);
    return {
      needs: { kind: "there", unlabelled: store.unlabelled },
      input: {
        ...(bundle === undefined ? {} : { bundle }),
        store: store.value,
        ...(record === undefined ? {} : { record }),
        ...(identity?.value === undefined ? {} : { identity: identity.value }),
        ...(run.task === "take" && bundle !== undefined
          ? {
              credentials: await mintCredentials(bundle, "os:etcd:backup", options.keys, clock),
              running: otherTakes(backup, backups.store.list(namespace)),
            }
          : {}),
        ...(cluster.kind === "present" ? { sources: cluster.sources } : {}),
      },
    };
  };

  /** Keys of the cluster that the backup is of: those that its record names; while its import is pending, those that were found. */
  const keysOf = async ({ metadata, status }: TalosEtcdBackup, cluster: SeenCluster): Promise<ClusterKeys> => {
    const key = { namespace: metadata.namespace ?? "", name: status?.controlPlane ?? "" };
    const notThere = {
      kind: "missing",
      reason: "ControlPlaneNotFound",
      message: "The ClusterRecord of the cluster is not there, or another cluster's by now.",
    } as const;
    const record = await records.tryGet(key);
    if (record === undefined) {
      const bundle = await brain.foundBundleOf(key);
      if (bundle === undefined || bundle.cluster.id !== status?.clusterId) return notThere;
      if (cluster.kind !== "present") return { kind: "read", bundle };
      const { foundKeys: verified } = cluster.sources;
      // Its record went a moment ago.
      if (verified === undefined) return notThere;
      if (fingerprintSecretsBundle(bundle) === verified) return { kind: "read", bundle };
      return { kind: "missing", reason: "KeysNotReadable", message: "The keys that were found are not those that its machines hold." };
    }
    const facts = readRecord(record)?.facts;
    if (facts === undefined || facts.clusterId !== status?.clusterId) return notThere;
    try {
      const stored = await bundles.read({ namespace: key.namespace, name: facts.bundle.secretName });
      return { kind: "read", bundle: usableBundle(stored, facts.bundle), record };
    } catch (thrown) {
      if (!isEffectError(thrown, "KEYS_UNUSABLE")) throw thrown;
      return { kind: "missing", reason: "KeysNotReadable", message: `Keys of the cluster: ${thrown.detail}.` };
    }
  };

  /** Claim, status, start: whoever dies in between leaves what the next process goes on from. */
  const begin = async (
    backup: TalosEtcdBackup,
    decision: BackupDecision,
    run: BackupRun,
    cluster: SeenCluster,
    input: RunInput | undefined,
  ): Promise<ReconcileResult> => {
    if (input === undefined) return { requeueAfterMs: AGAIN_MS };
    await demandLead(leading);
    const { namespace = "", name } = backup.metadata;
    if (run.task === "take" && cluster.kind === "present" && run.source !== undefined) {
      const forMs = taskTimeoutMs(backup, run.task) + BEGINS_WITHIN_MS;
      const claim = claimOf(run.name, run.source.machine, { namespace, name }, leading.identity, clock.now(), forMs);
      const key = { namespace, name: cluster.name };
      // While an import is pending nothing disturbs the cluster, and nothing is written to it.
      const isFree =
        cluster.sources.foundKeys === undefined
          ? await claimSnapshot(key, claim, client, clock.now())
          : !(await readClaims(key, client, clock.now())).hasRecord;
      if (!isFree) return { requeueAfterMs: AGAIN_MS };
    }
    const again = await tell(backup, decision);
    if (again !== undefined) return { requeueAfterMs: again };
    await start(withFields(backup, decision), run, input);
    return { requeueAfterMs: decision.requeueAfterMs };
  };

  /** A cluster that was taken over while its snapshot goes on has a record by now: from here on it says so, as it does for every other. */
  const claimLate = async (backup: TalosEtcdBackup, { fields: { run } }: BackupDecision, { cluster }: BackupSeen): Promise<void> => {
    if (run?.task !== "take" || run.source === undefined || cluster.kind !== "present") return;
    const { hasRecord, snapshot, disrupted } = cluster.claims;
    const { namespace = "", name } = backup.metadata;
    const leftMs = Date.parse(run.startedAt) + taskTimeoutMs(backup, run.task) + BEGINS_WITHIN_MS - clock.now();
    if (!hasRecord || snapshot !== undefined || disrupted !== undefined || leftMs <= 0) return;
    await demandLead(leading);
    const claim = claimOf(run.name, run.source.machine, { namespace, name }, leading.identity, clock.now(), leftMs);
    await claimSnapshot({ namespace, name: cluster.name }, claim, client, clock.now());
  };

  const start = async (backup: TalosEtcdBackup, run: BackupRun, input: RunInput): Promise<void> => {
    const { namespace = "", name, uid = "" } = backup.metadata;
    const task = taskOf(backup, run, input, limits.allowInsecureObjectStorage === true || isInsecureHost(backup, limits));
    // Its source is gone since: the run is late one day, and another try is made. Nothing is sent to whoever took its place.
    if (task === undefined) return;
    // Its end may be stored by a write whose answer is lost: the next pass looks what is left.
    tidied.delete(uid);
    await runner.start({ name: run.name, task, secrets: secretsOf(backup, run, input), owner: { namespace, name, uid } });
    options.log.info({ backup: name, namespace, run: run.name, task: run.task }, "Started a run of a backup");
  };

  /** Keys that end are renewed by whoever makes them: the worker is given the new ones before the old ones end. */
  const renewKeys = async (backup: TalosEtcdBackup, { fields }: BackupDecision, { now, run }: BackupSeen): Promise<void> => {
    const name = fields.run?.name;
    if (runner.refresh === undefined || name === undefined || run?.kind === "ended" || run?.kind === "absent") return;
    const last = keysLookedAt.get(name) ?? Date.parse(fields.run?.startedAt ?? "");
    if (now - last < KEYS_MS && now >= last) return;
    keysLookedAt.set(name, now);
    const keys = await readStoreKeys(backup.spec.backupStorage, backup.metadata.namespace ?? "", client, limits.requireStoreLabel);
    if (keys.kind === "read" && keys.value !== undefined) await runner.refresh(name, { store: keys.value });
  };

  /** @returns when to come again because the status is not stored; `undefined` = it is */
  const tell = async (backup: TalosEtcdBackup, decision: BackupDecision): Promise<number | undefined> => {
    const status = judgedStatus(backup, decision.fields, { conditions: decision.conditions, hasOpenEffect: decision.isBusy });
    const again = await statuses.write(backup, status);
    if (again === undefined) tellNews(backup, decision);
    return again;
  };

  /** Events and figures, once what they tell is stored: a pass that is repeated tells it once. */
  const tellNews = (backup: TalosEtcdBackup, { news, ended, isMissed, fields }: BackupDecision): void => {
    for (const one of news) tellOf(backup, one, options);
    if (ended !== undefined) options.backupFigures?.ended(ended);
    const controlPlane = fields.controlPlane ?? controlPlaneNamed(backup, options.talosClusters.store);
    if (isMissed === true && controlPlane !== undefined)
      options.backupFigures?.missed({ namespace: backup.metadata.namespace ?? "", controlPlane });
  };

  /**
   * Ends runs of objects of this name that the status does not name, and releases their claims.
   *
   * @param controlPlane whose record is asked; default: all of the namespace, where a run was ended
   * @returns whether nothing is left
   */
  const tidyUp = async (key: ObjectKey, runs: readonly ListedRun[], named: string | undefined, controlPlane?: string): Promise<boolean> => {
    const own = runs.filter(({ owner, name }) => name !== named && owner.name === key.name && owner.namespace === (key.namespace ?? ""));
    for (const { name } of own) {
      await runner.remove(name);
      keysLookedAt.delete(name);
    }
    if (own.length > 0) wakeWaiting(key);
    const all = own.length === 0 ? [] : options.controlPlanes.store.list(key.namespace).map(({ metadata }) => metadata.name);
    let isTidy = true;
    for (const name of controlPlane === undefined ? all : [controlPlane]) {
      const cluster = { namespace: key.namespace, name };
      const snapshot = (await records.tryGet(cluster))?.spec.snapshot;
      if (snapshot === undefined || snapshot.run === named) continue;
      if (snapshot.backup.name !== key.name || snapshot.backup.namespace !== key.namespace) continue;
      if (await releaseSnapshot(cluster, snapshot.run, client)) {
        brain.snapshotEnded(cluster);
        wakeWaiting(key);
      } else isTidy = false;
    }
    return isTidy;
  };

  /** What waits for its turn looks again at once: otherwise each turn would last as long as the pause between two looks. */
  const wakeWaiting = ({ namespace, name }: ObjectKey): void => {
    for (const backup of backups.store.list()) {
      const { metadata, status } = backup;
      const isWaiting = status?.run === undefined && (isProofAsked(backup) || (!isStored(status) && !hasFailed(status)));
      if (isWaiting && (metadata.name !== name || metadata.namespace !== namespace)) controller.enqueue(metadata);
    }
  };

  const controller: Controller = createController({
    name: "talosetcdbackup",
    ...commonOptions(options),
    workers: 1,
    backoff: { baseMs: 200, maxMs: 30_000 },
    reconcile,
    watches: [
      watchOf({ informer: backups, why: "the backup is the work item", predicate: (delta) => !statuses.isOwn(delta) }),
      watchOf({
        informer: options.controlPlanes,
        why: "a backup waits for the cluster that it names",
        predicate: (delta) => delta.type !== "updated",
        map: ({ metadata }) =>
          backups.store
            .list(metadata.namespace)
            .filter(({ status }) => status?.filename === undefined)
            .map((backup) => backup.metadata),
        priority: "low",
      }),
    ],
  });
  return controller;
}

/** Of the backup, or of its Namespace where that outlives it. */
function tellOf(backup: TalosEtcdBackup, { reason, note, on }: BackupNews, { events, log }: BackupControllerOptions): void {
  const { namespace = "", name } = backup.metadata;
  const regarding = on === "namespace" ? { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } } : backup;
  events.tell(regarding, reason, reason, note);
  // Events end after an hour, and what is stored stays.
  if (reason === "BackupRetained") log.warn({ backup: name, namespace, why: note }, "A backup that was to be removed stays in the store");
}

function isProofAsked({ metadata, status }: TalosEtcdBackup): boolean {
  const asked = metadata.annotations?.[annotations.proveNow];
  return asked !== undefined && asked.slice(0, 256) !== status?.provedNow;
}

/** The object as its status is about to be. */
function withFields(backup: TalosEtcdBackup, { fields }: BackupDecision): TalosEtcdBackup {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...backup, status: { ...given, ...(backup.status?.conditions === undefined ? {} : { conditions: backup.status.conditions }) } };
}

function isInsecureHost({ spec }: TalosEtcdBackup, { insecureHosts = [] }: BackupOptions): boolean {
  const host = URL.parse(spec.backupStorage.s3?.endpoint ?? "")?.host;
  return host !== undefined && insecureHosts.includes(host);
}
