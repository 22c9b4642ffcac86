import { RECIPIENT } from "../backups/stand-in.ts";
import { chooseScenario } from "../scenario.ts";
import { BACKUP_TROUBLES } from "../troubles/kinds.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { growOrReplace, isSettled } from "./machines.ts";

/** Every backup that was asked for is there, or was removed, and nobody works any more. */
function isDone(world: EditableWorld): boolean {
  return world.backups?.isIdle() === true;
}

/** One edit while a backup is on its way. */
function meanwhile(what: string, ask: (world: EditableWorld) => void, edit?: (world: EditableWorld) => Promise<void>): Step {
  return {
    what,
    async make(world) {
      ask(world);
      await edit?.(world);
    },
    isReached: (world) => isDone(world) && isSettled(world),
  };
}

/** Slots of the backups that are there. */
function slots(world: EditableWorld): readonly string[] {
  return (world.backups?.backups() ?? []).filter(({ facts }) => facts !== undefined).map(({ slot }) => slot);
}

/** What workers do to a store while the cluster lives on. A stand-in gives them their tasks: who decides about backups is judged elsewhere. */
export const backupWorkers: Workload = {
  name: "backup-workers",
  about: "backups are taken, with and without recipients, while machines come and go; they are proved, and all but the newest removed",
  choose: (random) => ({ ...chooseScenario(random, { controlPlanes: [1, 3], workers: [0], spares: 2 }), hasBackups: "stand-in" }),
  steps: ({ controlPlanes }) => [
    meanwhile("take two backups", (world) => {
      world.backups?.take("first");
      world.backups?.take("for-keepers", [RECIPIENT]);
    }),
    meanwhile(
      controlPlanes === 1 ? "take one while 1 control plane becomes 3" : "take one while a control plane is replaced",
      (world) => void world.backups?.take("meanwhile"),
      growOrReplace,
    ),
    meanwhile("prove them, and remove all but the newest", (world) => {
      const there = slots(world);
      for (const slot of there) world.backups?.prove(slot);
      for (const slot of there.slice(0, 1)) {
        world.backups?.takeAsSuccessor(`${slot}-again`);
        world.backups?.takeAsSuccessor(slot);
      }
      world.backups?.remove(there.slice(0, -1));
    }),
  ],
  effects: ["T12", "S3-1", "S3-2", "S3-3", "S3-4", "S3-5", "T7", "T9"],
  troubles: BACKUP_TROUBLES,
};
