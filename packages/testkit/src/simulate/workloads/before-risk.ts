import { annotations, talosControlPlaneResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { TalosEtcdBackupSchedule } from "@talos-operator/api";
import { storeFailure } from "../../world/memory-object-store.ts";
import { pick } from "../fault.ts";
import { chooseScenario, CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import { ofCluster } from "../troubles/input.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { isSettled, sparesOf } from "./machines.ts";

const MINUTE = 60_000;

/** Writes an annotation onto the control plane, as a person does. */
export function annotate({ client }: EditableWorld, annotation: string, value: string): Promise<unknown> {
  return client
    .resource(talosControlPlaneResource)
    .patch(ofCluster, { type: "merge", value: { metadata: { annotations: { [annotation]: value } } } });
}

/** There is a store, and a word how much a snapshot before risk is wanted. */
export function backsUp(policy: string): Step {
  return {
    what: `a person schedules backups, and a snapshot before risk is ${policy}`,
    async make(world) {
      await world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).create({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosEtcdBackupSchedule",
        metadata: { namespace: NAMESPACE, name: "yearly" },
        spec: {
          schedule: "0 0 1 1 *",
          backupTemplate: { spec: { talosControlPlaneRef: { name: CLUSTER_NAME }, backupStorage: { directory: {} }, timeout: "5m" } },
        },
      });
      await annotate(world, annotations.snapshotBeforeRisk, policy);
    },
    isReached: isSettled,
  };
}

const moods = ["slow", "full", "gone"] as const;

/** The store is so from now on, until the returned function is called, which tells whether nothing could be stored all that time. */
function spoil({ stage, datacenter }: EditableWorld, mood: (typeof moods)[number]): () => boolean {
  if (mood === "slow") {
    const slow = datacenter.inject({ method: "EtcdSnapshot", effect: { kind: "slow-stream", pauseMs: 2_000 } });
    return () => {
      slow.remove();
      return false;
    };
  }
  const answer = mood === "full" ? storeFailure("full", "no space left") : storeFailure("unreachable", "nobody answers");
  const isWrite = (method: string): boolean => !["list", "head", "get", "listUploads"].includes(method);
  const lie = ({ method }: { readonly method: string }) => (mood === "gone" || isWrite(method) ? { isDone: false, answer } : undefined);
  stage.interference.store = lie;
  return () => {
    // A trouble of the store that came and went has mended it.
    const wasBad = stage.interference.store === lie;
    if (wasBad) stage.interference.store = undefined;
    return wasBad;
  };
}

/** Control planes leave while the store is slow, full or gone; where a snapshot is required nobody leaves before it is back. */
export const replaceAfterSnapshot: Workload = {
  name: "replace-after-snapshot",
  about: "control planes are replaced or taken away after a snapshot, required or preferred, while the store is slow, full or gone",
  choose: (random) => ({
    ...chooseScenario(random, { controlPlanes: [3, 5], workers: [0, 1], spares: 1 }),
    hasBackups: "controllers",
  }),
  steps({ controlPlanes: count }, random) {
    const [policy, mood] = [pick(["preferred", "required"] as const, random), pick(moods, random)];
    const minutes = 3 + Math.floor(random.fraction() * 20);
    const isOneDead = random.fraction() < 0.3;
    const [first, last] = [`while the store is ${mood} for ${minutes} minutes`, isOneDead ? ", and the one that leaves is dead" : ""];
    let [isBack, wipes] = [false, 0];
    return [
      backsUp(policy),
      {
        what: `${count === 3 ? "replace a control plane" : "5 to 3"} ${first}${last}`,
        async make(world) {
          const { controlPlanes = [] } = world.stage.desired ?? {};
          const mend = spoil(world, mood);
          const [leaver = ""] = controlPlanes;
          if (isOneDead) world.datacenter.machine(leaver).powerOff();
          // One that looks dead leaves etcd without a snapshot, and may be wiped after that.
          const wiped = (): number => Math.max(0, world.took("T9") - world.took("T8"));
          const before = wiped();
          world.timers.schedule(minutes * MINUTE, () => {
            isBack = true;
            if (mend() && policy === "required") wipes = wiped() - before;
            // It comes back to be wiped.
            if (isOneDead) world.datacenter.machine(leaver).powerOn();
          });
          await world.edit({
            controlPlanes: count === 3 ? [...controlPlanes.slice(1), ...sparesOf(world)] : controlPlanes.slice(2),
          });
        },
        isReached: (world) => isBack && wipes === 0 && isSettled(world),
      },
    ];
  },
  effects: ["K2", "T8", "T9", "T12", "S3-1"],
};
