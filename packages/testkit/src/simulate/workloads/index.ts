import type { Workload } from "../workload.ts";
import { create } from "./create.ts";
import { deletion, preservation } from "./deletion.ts";
import { operatorUpgrade, pause, powerCycle } from "./standstill.ts";

/** Every workload, in the order of a cluster's life. */
export const workloads: readonly Workload[] = [create, pause, powerCycle, operatorUpgrade, deletion, preservation];
