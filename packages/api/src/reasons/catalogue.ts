import type { Condition, ConditionInput } from "../meta/condition.ts";
import { addressResolved, identityUnique } from "./address.ts";
import { drifted, noLongerSelected, releaseDisputed } from "./addon.ts";
import { backupStoreSecretUnlabelled, failed, insecureObjectStorage, keysNotBackedUp, proved } from "./backup.ts";
import { filesGenerated, machinesCreated, topologyValid } from "./composition.ts";
import { kubeletCertificatesPending } from "./certificates.ts";
import type { ConditionEntry, Release } from "./entry.ts";
import { configDrift, configUpToDate } from "./config.ts";
import { draining } from "./draining.ts";
import { endpointReachable, endpointUpToDate } from "./endpoint.ts";
import { reconciling, stalled } from "./kstatus.ts";
import { configApplied, maintenanceIdentityPinned, reachable } from "./machine.ts";
import { bootstrapped, etcdHealthy, machinesReady, nodesReady, nodesUnique, progressing } from "./progress.ts";
import { ready } from "./ready.ts";
import {
  accessNotRenewed,
  adoptionRequired,
  anotherOperatorActive,
  deleting,
  deletionHeld,
  dryRun,
  editRefused,
  endpointChosen,
  fieldNotSupported,
  imported,
  paused,
  releaseUnknown,
  removing,
  secretsLost,
  snapshotBeforeRisk,
  upgradePending,
} from "./standing.ts";

/**
 * Every condition type with every reason it can have: the closed vocabulary of `status.conditions`,
 * and the source of `docs/reference/conditions.md`. Words are never used again for something else.
 */
export const conditionCatalogue = {
  Ready: ready,
  Progressing: progressing,
  Reconciling: reconciling,
  Stalled: stalled,
  MachinesReady: machinesReady,
  TopologyValid: topologyValid,
  FilesGenerated: filesGenerated,
  MachinesCreated: machinesCreated,
  Bootstrapped: bootstrapped,
  EtcdHealthy: etcdHealthy,
  NodesReady: nodesReady,
  NodesUnique: nodesUnique,
  Reachable: reachable,
  AddressResolved: addressResolved,
  IdentityUnique: identityUnique,
  MaintenanceIdentityPinned: maintenanceIdentityPinned,
  ConfigApplied: configApplied,
  FieldNotSupported: fieldNotSupported,
  EditRefused: editRefused,
  ReleaseUnknown: releaseUnknown,
  EndpointChosen: endpointChosen,
  EndpointReachable: endpointReachable,
  EndpointUpToDate: endpointUpToDate,
  UpgradePending: upgradePending,
  ConfigUpToDate: configUpToDate,
  ConfigDrift: configDrift,
  AdoptionRequired: adoptionRequired,
  SecretsLost: secretsLost,
  Draining: draining,
  KubeletCertificatesPending: kubeletCertificatesPending,
  DeletionHeld: deletionHeld,
  AccessNotRenewed: accessNotRenewed,
  Deleting: deleting,
  Removing: removing,
  SnapshotBeforeRisk: snapshotBeforeRisk,
  Paused: paused,
  DryRun: dryRun,
  Imported: imported,
  AnotherOperatorActive: anotherOperatorActive,
  Failed: failed,
  Proved: proved,
  KeysNotBackedUp: keysNotBackedUp,
  InsecureObjectStorage: insecureObjectStorage,
  BackupStoreSecretUnlabelled: backupStoreSecretUnlabelled,
  NoLongerSelected: noLongerSelected,
  ReleaseDisputed: releaseDisputed,
  Drifted: drifted,
} as const satisfies Record<string, ConditionEntry>;

/** A condition type of the catalogue. */
export type ConditionType = keyof typeof conditionCatalogue;

/** The reasons a condition type can have. */
export type ReasonOf<T extends ConditionType> = Extract<keyof (typeof conditionCatalogue)[T]["reasons"], string>;

/** Any reason of any condition type. */
export type ConditionReason = { [T in ConditionType]: ReasonOf<T> }[ConditionType];

/** A reason why an object is not ready; what validation findings carry. */
export type ReadyReason = ReasonOf<"Ready">;

/**
 * A condition of the catalogue, its status taken from the reason, ready for `setCondition`.
 *
 * @param message facts, and what would change them; cut to the 32,768 characters the schema allows
 */
export function conditionFor<T extends ConditionType>(
  type: T,
  reason: ReasonOf<T>,
  message: string,
  observedGeneration?: number,
): ConditionInput {
  return {
    type,
    status: statusOf(type, reason),
    reason,
    message: message.length > 32_768 ? `${message.slice(0, 32_765)}...` : message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
}

/** The status that goes with a reason. */
export function statusOf<T extends ConditionType>(type: T, reason: ReasonOf<T>): Condition["status"] {
  const reasons: ConditionEntry["reasons"] = conditionCatalogue[type].reasons;
  const entry = reasons[reason];
  if (entry === undefined) throw new TypeError(`${type} has no reason ${reason}: add it to the catalogue`);
  return entry.status;
}

/** What ends the state that a reason stands for; `undefined` for a condition or a reason of others. */
export function releaseOf({ type, reason }: Pick<ConditionInput, "type" | "reason">): Release | undefined {
  const catalogue: Readonly<Record<string, ConditionEntry>> = conditionCatalogue;
  return catalogue[type]?.reasons[reason]?.release;
}
