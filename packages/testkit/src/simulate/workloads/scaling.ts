import { chooseScenario } from "../scenario.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { isSettled, sparesOf } from "./machines.ts";

type Pools = Pick<NonNullable<EditableWorld["stage"]["desired"]>, "controlPlanes" | "workers">;

/** One edit of who belongs to the cluster, reached when it is so. */
export function want(what: string, pools: (now: Pools, spares: readonly string[]) => Partial<Pools>): Step {
  return {
    what,
    make: (world) => world.edit(pools(world.stage.desired ?? { controlPlanes: [], workers: [] }, sparesOf(world))),
    isReached: isSettled,
  };
}

/** Workers come and go. */
export const scaleWorkers: Workload = {
  name: "scale-workers",
  about: "workers are added, taken away, and all replaced in one edit",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [1, 2], spares: 3 }),
  steps: () => [
    want("add a worker", ({ workers }, [spare = ""]) => ({ workers: [...workers, spare] })),
    want("take the first worker away", ({ workers }) => ({ workers: workers.slice(1) })),
    want("replace all workers", (_now, [, ...others]) => ({ workers: others })),
  ],
  mayInterrupt: true,
};

/** One control plane becomes five and one again. */
export const scaleControlPlanes: Workload = {
  name: "scale-control-planes",
  about: "1 control plane becomes 3, 5, 3 and 1 again",
  choose: (random) => chooseScenario(random, { controlPlanes: [1], workers: [0, 1], spares: 4 }),
  steps: () => [
    want("1 to 3", ({ controlPlanes }, [a = "", b = ""]) => ({ controlPlanes: [...controlPlanes, a, b] })),
    want("3 to 5", ({ controlPlanes }, [, , c = "", d = ""]) => ({ controlPlanes: [...controlPlanes, c, d] })),
    want("5 to 3", ({ controlPlanes }) => ({ controlPlanes: controlPlanes.slice(2) })),
    want("3 to 1", ({ controlPlanes }) => ({ controlPlanes: controlPlanes.slice(-1) })),
  ],
};

/** Control planes are exchanged for others in one edit. */
export const replace: Workload = {
  name: "replace",
  about: "one or all of 3 control planes are replaced by other machines in one edit",
  choose: (random) => chooseScenario(random, { controlPlanes: [3], workers: [0, 1], spares: 3 }),
  steps: (_scenario, random) =>
    random.fraction() < 0.5
      ? [want("replace one", ({ controlPlanes: [, ...others] }, [spare = ""]) => ({ controlPlanes: [...others, spare] }))]
      : [want("replace all", (_now, spares) => ({ controlPlanes: spares }))],
};
