import type { Workload } from "../workload.ts";
import { addons, addonsLeave } from "./addons.ts";
import { replaceAfterSnapshot } from "./before-risk.ts";
import { readopt, recreate, takeOver } from "./again.ts";
import { backup } from "./backup-objects.ts";
import { backupWorkers } from "./backups.ts";
import { compose, composeAbort, composeDelete, composeDisturbed, composeScale } from "./composition.ts";
import { changeAndLeave, configLive, configReboot } from "./configuration.ts";
import { containersDelete, containersLeave } from "./containers.ts";
import { create } from "./create.ts";
import { deletion, preservation } from "./deletion.ts";
import { drain } from "./draining.ts";
import { maintenance } from "./maintenance.ts";
import { networkSettings } from "./network-settings.ts";
import { replaceDead } from "./repair.ts";
import { replace, scaleControlPlanes, scaleWorkers } from "./scaling.ts";
import { writtenConfigs } from "./written-configs.ts";
import { operatorUpgradeMidway, upgradeBrokenVersion, upgradeSelfHosted, upgradeTalos } from "./upgrades.ts";
import { upgradeImage } from "./upgrade-images.ts";
import { modes, operatorUpgrade, pause, powerCycle } from "./standstill.ts";

/** Every workload, in the order of a cluster's life. */
export const workloads: readonly Workload[] = [
  create,
  scaleWorkers,
  scaleControlPlanes,
  replace,
  replaceDead,
  replaceAfterSnapshot,
  configLive,
  configReboot,
  changeAndLeave,
  writtenConfigs,
  networkSettings,
  drain,
  upgradeTalos,
  upgradeBrokenVersion,
  upgradeImage,
  maintenance,
  upgradeSelfHosted,
  operatorUpgradeMidway,
  pause,
  modes,
  powerCycle,
  operatorUpgrade,
  deletion,
  preservation,
  containersLeave,
  containersDelete,
  recreate,
  readopt,
  takeOver,
  compose,
  composeScale,
  composeDisturbed,
  composeDelete,
  composeAbort,
  backupWorkers,
  backup,
  addons,
  addonsLeave,
];
