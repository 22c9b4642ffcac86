import { annotations, labels, labelValueFor, rfc3339, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { isAlreadyExists } from "@talos-operator/kube-runtime";
import { EffectError } from "../errors.ts";
import { isRefusedWrite } from "../controllers/shared/refused-write.ts";
import { backupMadeFrom } from "../controllers/talosetcdbackupschedule/made-backup.ts";
import { isStoreOf } from "../disruption/snapshot-before-risk.ts";
import { takingKey } from "../disruption/snapshot-taking.ts";
import { stored } from "../planning/step-of.ts";
import type { Observed } from "../model/observation.ts";
import type { WantedSnapshot } from "../model/plans.ts";
import { defineEffect } from "./define.ts";
import type { Sending } from "./define.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only under this name, with the store of this very schedule: create-only, so that whoever asks again meets what is there. */
    TakeSnapshot: WantedSnapshot;
  }
}

/** The schedule whose store is used, as it is now. */
const storeNow = ({ action, effects: { client, seen } }: Sending<WantedSnapshot>) => {
  const key = { namespace: seen.controlPlane.metadata.namespace, name: action.schedule };
  return client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).tryGet(key);
};

/** Makes a TalosEtcdBackup before control planes are disturbed. It is taken, proved and told of as any other, and let go by its schedule. */
export const takeSnapshot = defineEffect("TakeSnapshot", {
  inventory: "T12",
  at: "objects",
  object: ({ name }) => name,
  disrupts: "nothing",
  before: {
    sameStore: async (sending) => {
      const schedule = await sending.ask(storeNow);
      if (schedule === undefined || schedule.metadata.uid !== sending.action.ifUid || !isStoreOf(schedule))
        throw new EffectError("PRECONDITION_GONE", `TalosEtcdBackupSchedule ${sending.action.schedule} is gone, paused or another by now`);
    },
  },
  async carryOut(sending) {
    const { action, effects } = sending;
    const { client, session, seen } = effects;
    const schedule = await sending.ask(storeNow);
    if (schedule === undefined) return;
    const key = takingKey(action.name, action.attempt);
    try {
      await client.resource<TalosEtcdBackup>(talosEtcdBackupResource).create(snapshotFrom(schedule, action, seen));
      effects.event(
        "Reconciling",
        "TakeSnapshot",
        `Before these ${action.happens}: ${action.machines.join(", ")}. A snapshot of etcd is taken, TalosEtcdBackup ${action.name}.`,
      );
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) {
        session.noteSent(key, isRefusedWrite(thrown) ? "refused" : "unknown", isRefusedWrite(thrown) ? thrown.message : "");
        // A person's quota or rule: what follows from that is decided with the next pass, and nothing else waits for it.
        if (isRefusedWrite(thrown)) return;
        throw thrown;
      }
    }
    session.noteSent(key, "answered", "");
  },
  step: ({ machines, schedule, happens }) =>
    stored(
      machines.join(", "),
      (named) => `Take a snapshot of etcd with the store of TalosEtcdBackupSchedule ${schedule}, before these ${happens}: ${named}.`,
    ),
  afterwards: (seen, action) => withSnapshot(seen, (schedule) => asTaken(snapshotFrom(schedule, action, seen), seen.now), action),
});

function snapshotFrom(schedule: TalosEtcdBackupSchedule, { name, machines }: WantedSnapshot, { controlPlane }: Observed): TalosEtcdBackup {
  return backupMadeFrom(schedule, name, {
    labels: { [labels.beforeRisk]: labelValueFor(controlPlane.metadata.name) },
    annotations: { [annotations.takenBefore]: machines.join(",") },
  });
}

function withSnapshot(
  seen: Observed,
  made: (schedule: TalosEtcdBackupSchedule) => TalosEtcdBackup,
  { schedule }: WantedSnapshot,
): Observed {
  const store = seen.snapshots?.schedules.find(({ metadata }) => metadata.name === schedule);
  if (seen.snapshots === undefined || store === undefined) return seen;
  return { ...seen, snapshots: { ...seen.snapshots, backups: [made(store), ...seen.snapshots.backups] } };
}

/** The same backup once it went as it should. */
export function asTaken(backup: TalosEtcdBackup, now: number): TalosEtcdBackup {
  const at = rfc3339(now);
  const proved = { type: "Proved", status: "True", reason: "ReadOnly", message: "", lastTransitionTime: at } as const;
  const { metadata } = backup;
  return {
    ...backup,
    metadata: { ...metadata, uid: metadata.uid ?? `uid of ${metadata.name}`, creationTimestamp: metadata.creationTimestamp ?? at },
    status: { ...backup.status, slot: metadata.name, filename: metadata.name, startTime: at, completionTime: at, conditions: [proved] },
  };
}
