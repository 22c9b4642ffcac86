import {
  annotations,
  findCondition,
  isConditionTrue,
  labels,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
} from "@talos-operator/api";
import type { TalosEtcdBackup, TalosEtcdBackupSchedule, TalosEtcdBackupSpec } from "@talos-operator/api";
import { KEEPER } from "../backups/asked.ts";
import { chooseScenario, CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import { BACKUP_TROUBLES } from "../troubles/kinds.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { growOrReplace, isSettled } from "./machines.ts";

const ONE = "one";
const KEPT = "kept";
const OFTEN = "often";
const WORD = "by-a-person";

/** A person looks at what failed so often. Milliseconds. */
const LOOK_MS = 60_000;

const spec: TalosEtcdBackupSpec = {
  talosControlPlaneRef: { name: CLUSTER_NAME },
  backupStorage: { directory: {} },
  timeout: "5m",
};

function backupOf(world: EditableWorld, name: string): TalosEtcdBackup | undefined {
  return world.objects.get("talosetcdbackups", name) as unknown as TalosEtcdBackup | undefined;
}

function schedule(world: EditableWorld): TalosEtcdBackupSchedule | undefined {
  return world.objects.get("talosetcdbackupschedules", OFTEN) as unknown as TalosEtcdBackupSchedule | undefined;
}

/** Backups that the schedule made. */
function scheduled(world: EditableWorld): readonly TalosEtcdBackup[] {
  const all = world.objects.all("talosetcdbackups") as unknown as readonly TalosEtcdBackup[];
  return all.filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === OFTEN) === true);
}

/** Makes a backup, and another one in its place as often as it failed for good: that is what its condition asks a person for. */
async function ask(world: EditableWorld, name: string, over: Partial<TalosEtcdBackupSpec> = {}): Promise<void> {
  const backups = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  const make = (): Promise<unknown> =>
    backups.create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackup",
      metadata: { namespace: NAMESPACE, name },
      spec: { ...spec, ...over },
    });
  await make();
  const mend = async (): Promise<void> => {
    for (;;) {
      await world.timers.sleep(LOOK_MS);
      const there = await backups.tryGet({ namespace: NAMESPACE, name });
      if (there === undefined || isReady(there) || there.metadata.deletionTimestamp !== undefined) return;
      if (!isConditionTrue(there.status?.conditions, "Failed")) continue;
      world.trace(`a person makes ${name} anew: ${findCondition(there.status?.conditions, "Ready")?.message ?? ""}`);
      await backups.delete({ namespace: NAMESPACE, name });
      while ((await backups.tryGet({ namespace: NAMESPACE, name })) !== undefined) await world.timers.sleep(1_000);
      await make();
    }
  };
  void mend();
}

function isReady(backup: TalosEtcdBackup | undefined): boolean {
  return isConditionTrue(backup?.status?.conditions, "Ready");
}

function isIdle(world: EditableWorld): boolean {
  return world.askedBackups?.isIdle() === true;
}

/** The proof that a person asked for has ended, and says what is so. */
function isProved(world: EditableWorld): boolean {
  const { status } = backupOf(world, ONE) ?? {};
  return status?.provedNow === WORD && findCondition(status.conditions, "Proved")?.status !== "Unknown";
}

/** Backups as people have them: by their objects, and by a schedule, while machines come and go. */
export const backup: Workload = {
  name: "backup",
  about: "backups are made by hand and by a schedule while control planes come and go; they are proved, let go by retention, and deleted",
  choose: (random) => ({ ...chooseScenario(random, { controlPlanes: [1, 3], workers: [0], spares: 2 }), hasBackups: "controllers" }),
  steps: ({ controlPlanes }) => [
    {
      what: "take two backups",
      async make(world) {
        await ask(world, ONE);
        await ask(world, KEPT, { encryption: { recipients: [KEEPER] }, deletionPolicy: "delete" });
      },
      isReached: (world) => isReady(backupOf(world, ONE)) && isReady(backupOf(world, KEPT)) && isIdle(world) && isSettled(world),
    },
    {
      what:
        controlPlanes === 1
          ? "back up every three minutes while 1 control plane becomes 3"
          : "back up every three minutes while a control plane is replaced",
      async make(world) {
        await world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).create({
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosEtcdBackupSchedule",
          metadata: { namespace: NAMESPACE, name: OFTEN },
          spec: { schedule: "*/3 * * * *", timeZone: "UTC", retention: 2, backupTemplate: { spec: { ...spec, deletionPolicy: "delete" } } },
        });
        await growOrReplace(world);
      },
      isReached(world) {
        // The third one lets the first one go.
        const { status, metadata } = schedule(world) ?? {};
        const made = Date.parse(status?.lastScheduleTime ?? "") - Date.parse(metadata?.creationTimestamp ?? "");
        // What is taken before a control plane leaves is kept for a week, beside what the schedule keeps.
        const stored = scheduled(world).filter(
          ({ metadata: own, status: of }) => of?.filename !== undefined && own.labels?.[labels.beforeRisk] === undefined,
        );
        return made >= 6 * 60_000 && status?.backups === 2 && stored.length === 2 && isIdle(world) && isSettled(world);
      },
    },
    {
      what: "prove one, and delete the others",
      async make(world) {
        const backups = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
        const value = { metadata: { annotations: { [annotations.proveNow]: WORD } } };
        await backups.patch({ namespace: NAMESPACE, name: ONE }, { type: "merge", value });
        await backups.delete({ namespace: NAMESPACE, name: KEPT });
        await world.client.resource(talosEtcdBackupScheduleResource).delete({ namespace: NAMESPACE, name: OFTEN });
      },
      isReached: (world) =>
        isProved(world) &&
        backupOf(world, KEPT) === undefined &&
        schedule(world) === undefined &&
        scheduled(world).length === 0 &&
        isIdle(world) &&
        isSettled(world),
    },
  ],
  effects: ["K2", "K5", "K6", "T12", "S3-1", "S3-2", "S3-3", "S3-4", "S3-5", "T7", "T9"],
  troubles: BACKUP_TROUBLES,
};
