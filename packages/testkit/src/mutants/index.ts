import { addonControllerFaults } from "./addon-controllers.ts";
import { addonDriftFaults } from "./addon-drift.ts";
import { addonReleaseFaults } from "./addon-releases.ts";
import { attackedAddonFaults, independentAddonFaults } from "./addons-independent.ts";
import { addonManifestsFaults } from "./addon-manifests.ts";
import { awaitedNetworkFaults } from "./awaited-network.ts";
import { backupControllerFaults } from "./backup-controllers.ts";
import { backupWorkerFaults } from "./backup-workers.ts";
import { compositionFaults } from "./composition-faults.ts";
import { containers } from "./containers.ts";
import { doors } from "./doors.ts";
import { effectGuards } from "./effect-guards.ts";
import { founding } from "./founding.ts";
import { guards } from "./guards.ts";
import { kubeletCertificateFaults } from "./kubelet-certificates.ts";
import { knownFaults } from "./known-faults.ts";
import { disruption } from "./disruption.ts";
import { etcdCare } from "./etcd-care.ts";
import { laterLife } from "./later-life.ts";
import type { Mutant } from "./mutant.ts";
import { passInvariantFaults } from "./pass-invariants.ts";
import { proofs } from "./proofs.ts";
import { snapshotBeforeRiskFaults } from "./snapshot-before-risk.ts";
import { corruptMembers } from "./corrupt-members.ts";
import { strayMembers } from "./stray-members.ts";
import { walks } from "./walks.ts";
import { whoseItIs } from "./whose-it-is.ts";
import { writeGuards } from "./write-guards.ts";

/** Every fault that can be planted. */
export const mutants: readonly Mutant[] = [
  ...founding,
  ...guards,
  ...laterLife,
  ...disruption,
  ...etcdCare,
  ...strayMembers,
  ...corruptMembers,
  ...passInvariantFaults,
  ...walks,
  ...knownFaults,
  ...compositionFaults,
  ...effectGuards,
  ...writeGuards,
  ...whoseItIs,
  ...proofs,
  ...doors,
  ...containers,
  ...backupWorkerFaults,
  ...backupControllerFaults,
  ...snapshotBeforeRiskFaults,
  ...addonControllerFaults,
  ...addonReleaseFaults,
  ...awaitedNetworkFaults,
  ...kubeletCertificateFaults,
  ...addonManifestsFaults,
  ...addonDriftFaults,
  ...independentAddonFaults,
  ...attackedAddonFaults,
];
