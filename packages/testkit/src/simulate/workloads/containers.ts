import { chooseScenario } from "../scenario.ts";
import type { Workload } from "../workload.ts";
import { isDeleted } from "./deletion.ts";
import { want } from "./scaling.ts";

/** Machines in containers leave a cluster that stays: a reset takes nothing out of etcd there, and is seen by nobody answering. */
export const containersLeave: Workload = {
  name: "containers-leave",
  about: "of 3 control planes in containers one is replaced and then two leave; a worker leaves beside",
  choose: (random) => chooseScenario(random, { controlPlanes: [3], workers: [2], spares: 1, platform: "container" }),
  steps: () => [
    want("replace one", ({ controlPlanes: [, ...others] }, [spare = ""]) => ({ controlPlanes: [...others, spare] })),
    want("3 to 1, and a worker less", ({ controlPlanes, workers }) => ({
      controlPlanes: controlPlanes.slice(-1),
      workers: workers.slice(1),
    })),
  ],
};

/** A cluster in containers is deleted: its machines stop, and keep what they have. */
export const containersDelete: Workload = {
  name: "containers-delete",
  about: "a cluster in containers is deleted: its machines are stopped, its objects, record and keys go",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [0, 2], platform: "container" }),
  steps: () => [{ what: "delete", make: (world) => world.remove(), isReached: isDeleted }],
  endsDeleted: true,
};
