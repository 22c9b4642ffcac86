import type { DeletionPolicy } from "@talos-operator/api";
import type { KubeResponse } from "@talos-operator/ports";
import { noInterference, type Interference } from "./interference.ts";
import type { Desired } from "./scenario.ts";

/**
 * What a trouble does to the world beside machines and objects, and what it tells the invariants, so that these do not blame the operator for the
 * deeds of people.
 */
export interface Stage {
  /** The pod that operators which start from now on run in; `undefined` = in none. */
  operatorPod: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  /** Since when the bundle Secret is away or holds something else, by somebody's hand. */
  bundleGoneSince: number | undefined;
  /** Name of a Secret that is somebody else's, though it is called as one of ours. */
  takenName: string | undefined;
  /** Since when the record holds what only a newer release knows. */
  newerRecordSince: number | undefined;
  /** Since when etcd raises an alarm. */
  alarmedSince: number | undefined;
  /** Since when the cluster is paused by a person. */
  pausedSince: number | undefined;
  /** Since when the cluster is deleted by a person. */
  deletedSince: number | undefined;
  /** The record was deleted by somebody: what was written down is not known any more. */
  isRecordLost: boolean;
  /** Every object but the keys was lost, troubles' own too. */
  isManagementLost: boolean;
  /** Configurations that a machine may take once more, because it lost the first one. */
  mayRepeat: number;
  /** What machines were sent because a person allowed it, or because they lost what they had: configurations, and the way of a member with wrong data out of etcd. */
  allowed: number;
  /** Takes away what else names the machines: called before a person lets any of them go, for whoever comes next may have it at once. */
  readonly beforeLettingGo: Set<() => Promise<void>>;
  /** What stands between operators and the APIs that they call. */
  readonly interference: Interference;
  /** Configurations that machines may take when nothing goes wrong. */
  mayConfigure: number;
  /** How often keys may be made, or copied, in this run. */
  mayMakeKeys: number;
  /** Of these the ones that nobody waits for any more: their cluster was deleted before it had any. */
  keysNeverMade: number;
  /** Clusters that were made under the name so far: what was known of one is not true of the next. */
  generation: number;
  /** The cluster was Ready once. */
  wasReady: boolean;
  readonly deletionPolicy: DeletionPolicy;
  /** What is wanted now; `undefined` = the cluster was deleted. */
  desired: Desired | undefined;
  /** Every address that was wanted as a control plane at any time. */
  readonly everControlPlanes: Set<string>;
  /** Every address that was wanted at any time. */
  readonly everMachines: Set<string>;
  /** Worker group of each address that ever had one; others are all of one pool. */
  readonly pools: Map<string, string>;
  /** Machines that a person let go without proof of a wipe. */
  readonly abandoned: Set<string>;
  /** Machines that lost what was on their disk by somebody's hand: they boot, and join once more. */
  readonly reinstalled: Set<string>;
  /** Machines whose etcd had wrong data: they boot to join anew. */
  readonly corrupted: Set<string>;
  /** Which machine stands at an address now, where it is another one than in the beginning: address to the address that it had. */
  readonly routes: Map<string, string>;
  /** Addresses of machines that a person allowed to be configured again. */
  readonly approved: Set<string>;
  /** The provider gave one machine the address of another, and another address later: what was written down of it meanwhile is of the other. */
  wasMistaken: boolean;
  /** Addresses of machines whose answers are late, or are lost: nobody can tell of them as they are. */
  readonly unheard: Set<string>;
  /** The next `times` reads whose path ends so are answered with this status. */
  answerReads(pathEnd: string, status: number, times: number): void;
  lie(path: string): KubeResponse | undefined;
  /** Watches tell nothing until `resumeWatches`; then they tell everything. */
  freezeWatches(): void;
  /** They did so at some time. */
  wereWatchesFrozen: boolean;
  areWatchesFrozen(): boolean;
  resumeWatches(): void;
  watchesGoOn(): Promise<void>;
}

/** @param isNew the cluster is made in this run; otherwise it is Ready already */
export function createStage(desired: Desired, deletionPolicy: DeletionPolicy, isNew: boolean): Stage {
  const lies: { readonly pathEnd: string; readonly status: number; times: number }[] = [];
  let frozen: { readonly over: Promise<void>; readonly end: () => void } | undefined;
  return {
    operatorPod: undefined,
    bundleGoneSince: undefined,
    takenName: undefined,
    newerRecordSince: undefined,
    alarmedSince: undefined,
    pausedSince: undefined,
    deletedSince: undefined,
    allowed: 0,
    beforeLettingGo: new Set(),
    interference: noInterference(),
    isRecordLost: false,
    isManagementLost: false,
    mayRepeat: 0,
    mayConfigure: isNew ? desired.controlPlanes.length + desired.workers.length : 0,
    mayMakeKeys: isNew ? 1 : 0,
    keysNeverMade: 0,
    generation: 1,
    wasReady: !isNew,
    deletionPolicy,
    desired,
    everControlPlanes: new Set(desired.controlPlanes),
    everMachines: new Set([...desired.controlPlanes, ...desired.workers]),
    pools: new Map(),
    abandoned: new Set(),
    reinstalled: new Set(),
    corrupted: new Set(),
    routes: new Map(),
    approved: new Set(),
    wasMistaken: false,
    unheard: new Set(),
    answerReads(pathEnd, status, times) {
      lies.push({ pathEnd, status, times });
    },
    lie(path) {
      const found = lies.find((one) => one.times > 0 && path.endsWith(one.pathEnd));
      if (found === undefined) return undefined;
      found.times -= 1;
      const reason = found.status === 404 ? "NotFound" : "InternalError";
      const body = { kind: "Status", apiVersion: "v1", status: "Failure", reason, code: found.status, message: "a lie" };
      return { status: found.status, headers: {}, body };
    },
    wereWatchesFrozen: false,
    freezeWatches() {
      this.wereWatchesFrozen = true;
      if (frozen !== undefined) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      frozen = { over: promise, end: resolve };
    },
    areWatchesFrozen: () => frozen !== undefined,
    resumeWatches() {
      frozen?.end();
      frozen = undefined;
    },
    watchesGoOn: async () => frozen?.over,
  };
}
