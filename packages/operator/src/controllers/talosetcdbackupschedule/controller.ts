import {
  annotations,
  apiVersionOf,
  conditionFor,
  controllerOf,
  finalizers,
  reconcileModeOf,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
  validateBackupScheduleSpec,
} from "@talos-operator/api";
import type { BackupOptions, TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import {
  createController,
  deleteExactly,
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyText,
  removeFinalizer,
  watchOf,
} from "@talos-operator/kube-runtime";
import type { Controller, Informer, ObjectKey, ReconcileContext, ReconcileResult } from "@talos-operator/kube-runtime";
import type { Telling } from "../../telling/telling.ts";
import type { BackedUp, BackupFigures } from "../../metrics/backup-figures.ts";
import { commonOptions } from "../shared/controller-ports.ts";
import type { ControllerPorts } from "../shared/controller-ports.ts";
import { judgedStatus, pausedMemory } from "../shared/kstatus.ts";
import { pausedCondition } from "../shared/mode.ts";
import { namespaceTerminates } from "../shared/namespace-terminates.ts";
import { isRefusedWrite } from "../shared/refused-write.ts";
import { createStatusWriter } from "../shared/status-writer.ts";
import { controlPlaneNamed } from "../talosetcdbackup/cluster-name.ts";
import { isStored } from "../talosetcdbackup/phase.ts";
import { slotTime } from "../talosetcdbackup/slot.ts";
import { backupSpecOf, decideSchedule } from "./decide.ts";
import type { ScheduleDecision, WantedBackup } from "./decide.ts";
import { backupMadeFrom } from "./made-backup.ts";

const FIELD_MANAGER = "talos-operator/talosetcdbackupschedule";

/** A race that was lost: the next pass comes so soon. Milliseconds. */
const AGAIN_MS = 500;

/** A creation that was refused is tried again after this. Milliseconds. */
const REFUSED_AGAIN_MS = 30_000;

let cron: Promise<typeof import("./cron.ts")> | undefined;

/** What reads cron expressions is loaded with the first schedule: an operator without any does not hold it. */
const loadCron = (): Promise<typeof import("./cron.ts")> => (cron ??= import("./cron.ts"));

/** What the controller of schedules needs. */
export interface ScheduleControllerOptions extends ControllerPorts {
  readonly schedules: Informer<TalosEtcdBackupSchedule>;
  readonly backups: Informer<TalosEtcdBackup>;
  readonly events: Telling;
  /** What validation of specs knows of this operator. */
  readonly limits: BackupOptions;
  readonly talosClusters: Informer<TalosCluster>;
  /** Where figures of backups go; without it nowhere. */
  readonly backupFigures?: BackupFigures;
}

/** Makes TalosEtcdBackups at set times, lets go what retention does not keep, and has the newest proved. */
export function createScheduleController(options: ScheduleControllerOptions): Controller {
  const { client, clock, schedules, backups, events, limits } = options;
  const objects = client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
  const made = client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  const statuses = createStatusWriter<TalosEtcdBackupSchedule>(client, talosEtcdBackupScheduleResource, clock, FIELD_MANAGER, events, {
    isMemory: true,
  });

  const reconcile = async (key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult | undefined> => {
    if (schedules.store.get(key) === undefined) {
      statuses.forget(keyText(key));
      return undefined;
    }
    // Live: what was promised last is in its status, and a cache may not show it yet.
    const schedule = await objects.tryGet(key);
    if (schedule === undefined) return undefined;
    if (schedule.metadata.deletionTimestamp !== undefined) {
      // Its backups go with it by their owner; what is stored stays unless they say otherwise.
      await removeFinalizer(objects, schedule, finalizers.talosEtcdBackupSchedule);
      return undefined;
    }
    const mode = reconcileModeOf(schedule.metadata);
    if (mode !== "reconcile") return { requeueAfterMs: await statuses.write(schedule, pausedMemory(schedule, [pausedCondition(mode)])) };
    const { readSchedule } = await loadCron();
    const decision = decideSchedule({
      now: clock.now(),
      schedule,
      times: readSchedule(schedule.spec.schedule, schedule.spec.timeZone),
      problems: validateBackupScheduleSpec(schedule.spec, { ...limits, namespace: key.namespace ?? "" }),
      isTerminating: await namespaceTerminates(key.namespace, client),
      backups: backups.store.list(key.namespace),
    });
    if (decision.create !== undefined) {
      const refusal = await create(schedule, decision.create, context);
      if (refusal !== undefined) return refused(schedule, decision, refusal);
    }
    for (const backup of decision.fit)
      // Whoever changed it meanwhile may have begun it: it is decided about anew.
      if (!(await fit(schedule, backup, context))) return { requeueAfterMs: AGAIN_MS };
    // Before the status says that it was asked for: who dies in between asks once more, in the same word.
    if (decision.prove !== undefined) {
      const { backup, word } = decision.prove;
      const metadata = { uid: backup.metadata.uid, annotations: { [annotations.proveNow]: word } };
      // An identity that the schedule was given since.
      const { drill } = backupSpecOf(schedule);
      const spec = drill === undefined ? {} : { spec: { drill } };
      const stored = await made.patch(backup.metadata, { type: "merge", value: { metadata, ...spec } });
      context.wrote(backups, stored);
    }
    const again = await tell(schedule, decision);
    if (again !== undefined) return { requeueAfterMs: again };
    for (const backup of decision.remove) await remove(backup, context);
    return { requeueAfterMs: decision.requeueAfterMs };
  };

  /** @returns why the API server refuses it; `undefined` = it is there */
  const create = async (
    schedule: TalosEtcdBackupSchedule,
    { name, at }: WantedBackup,
    context: ReconcileContext,
  ): Promise<string | undefined> => {
    const { metadata } = schedule;
    const wanted = backupMadeFrom(schedule, name, { annotations: { [annotations.backupSlot]: slotTime(at) } });
    try {
      context.wrote(backups, await made.create(wanted));
      return undefined;
    } catch (thrown) {
      if (isAlreadyExists(thrown)) {
        const other = await made.tryGet({ namespace: metadata.namespace, name });
        if (other === undefined || controllerOf(other.metadata)?.uid === metadata.uid) return undefined;
        return `TalosEtcdBackup ${name} is there and another's.`;
      }
      if (isRefusedWrite(thrown)) return thrown.message;
      throw thrown;
    }
  };

  /** @returns false where somebody was faster */
  const fit = async (schedule: TalosEtcdBackupSchedule, backup: TalosEtcdBackup, context: ReconcileContext): Promise<boolean> => {
    const operations = [
      { op: "replace", path: "/metadata/resourceVersion", value: backup.metadata.resourceVersion },
      { op: "replace", path: "/spec", value: backupSpecOf(schedule) },
    ] as const;
    try {
      context.wrote(backups, await made.patch(backup.metadata, { type: "json", operations }));
      return true;
    } catch (thrown) {
      if (isConflict(thrown) || isNotFound(thrown)) return false;
      throw thrown;
    }
  };

  /** Nothing is promised anew: the same backup is tried again until its time is over. */
  const refused = async (schedule: TalosEtcdBackupSchedule, decision: ScheduleDecision, why: string): Promise<ReconcileResult> => {
    const { generation } = schedule.metadata;
    const message = `The backup that is due could not be made: ${why}`;
    const conditions = decision.conditions.map((condition) =>
      condition.type === "Ready" || condition.type === "Failed"
        ? conditionFor(condition.type, "BackupCreationFailed", message, generation)
        : condition,
    );
    const { conditions: _kept, ...fields } = schedule.status ?? {};
    await statuses.write(schedule, judgedStatus(schedule, fields, { conditions, hasOpenEffect: false }), 2_000);
    events.tell(schedule, "BackupCreationFailed", "BackupCreationFailed", message);
    return { requeueAfterMs: REFUSED_AGAIN_MS };
  };

  const tell = async (schedule: TalosEtcdBackupSchedule, decision: ScheduleDecision): Promise<number | undefined> => {
    const status = judgedStatus(schedule, decision.fields, { conditions: decision.conditions, hasOpenEffect: decision.isBusy });
    const again = await statuses.write(schedule, status);
    if (again !== undefined) return again;
    for (const { reason, note } of decision.news) events.tell(schedule, reason, reason, note);
    const cluster = clusterOfSchedule(schedule, options.talosClusters);
    if (decision.missed > 0 && cluster !== undefined) options.backupFigures?.missed(cluster, decision.missed);
    return undefined;
  };

  /** Object, manifest and bytes go together: the backup takes its bytes along, which its finalizer waits for. */
  const remove = async (backup: TalosEtcdBackup, context: ReconcileContext): Promise<void> => {
    const { uid, resourceVersion, finalizers: held = [] } = backup.metadata;
    try {
      if (isStored(backup.status)) {
        const kept = held.includes(finalizers.talosEtcdBackup) ? held : [...held, finalizers.talosEtcdBackup];
        // By compare-and-swap: one that is proved, or to be kept, since it was seen is decided about anew.
        const value = { metadata: { uid, resourceVersion, finalizers: kept }, spec: { deletionPolicy: "delete" } };
        context.wrote(backups, await made.patch(backup.metadata, { type: "merge", value }));
      }
      await deleteExactly(made, backup);
    } catch (thrown) {
      if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
    }
  };

  return createController({
    name: "talosetcdbackupschedule",
    ...commonOptions(options),
    backoff: { baseMs: 200, maxMs: 30_000 },
    reconcile,
    watches: [
      watchOf({ informer: schedules, why: "the schedule is the work item", predicate: (delta) => !statuses.isOwn(delta) }),
      watchOf({
        informer: backups,
        why: "a schedule sums up its backups",
        map: ({ metadata }) => {
          const owner = controllerOf(metadata);
          return owner?.kind === "TalosEtcdBackupSchedule" && owner.apiVersion === apiVersionOf(talosEtcdBackupScheduleResource)
            ? [{ namespace: metadata.namespace, name: owner.name }]
            : [];
        },
        priority: "low",
      }),
    ],
  });
}

/** The cluster whose backups a schedule makes; `undefined` while nobody knows its control plane. */
export function clusterOfSchedule(
  { metadata, spec }: TalosEtcdBackupSchedule,
  talosClusters: Informer<TalosCluster>,
): BackedUp | undefined {
  const controlPlane = controlPlaneNamed({ metadata, spec: spec.backupTemplate.spec }, talosClusters.store);
  return controlPlane === undefined ? undefined : { namespace: metadata.namespace ?? "", controlPlane };
}
