import type { Workload } from "../workload.ts";
import { configLive, configReboot } from "./configuration.ts";
import { create } from "./create.ts";
import { deletion, preservation } from "./deletion.ts";
import { drain } from "./draining.ts";
import { replaceDead } from "./repair.ts";
import { replace, scaleControlPlanes, scaleWorkers } from "./scaling.ts";
import { operatorUpgrade, pause, powerCycle } from "./standstill.ts";

/** Every workload, in the order of a cluster's life. */
export const workloads: readonly Workload[] = [
  create,
  scaleWorkers,
  scaleControlPlanes,
  replace,
  replaceDead,
  configLive,
  configReboot,
  drain,
  pause,
  powerCycle,
  operatorUpgrade,
  deletion,
  preservation,
];
