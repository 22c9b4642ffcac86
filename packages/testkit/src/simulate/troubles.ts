import { foundAndReplace, foundByHand } from "./troubles/founding.ts";
import { failKube, failTalos } from "./troubles/answers.ts";
import { passTime } from "./troubles/clocks.ts";
import { corruptEtcd, fillEtcd } from "./troubles/databases.ts";
import { deleteChildren } from "./troubles/deleted.ts";
import type { TroubleInput } from "./troubles/input.ts";
import { loseLease } from "./troubles/leases.ts";
import { alarm, replaceDisk, swapAddresses } from "./troubles/replaced.ts";
import { emptyLists, garbleWatches, shortenWatches } from "./troubles/watches.ts";
import { loseAll, loseBeforeFounding, loseBundle, loseRecord, takeName, writeNewer } from "./troubles/keys.ts";
import { breakSnapshots, damageSnapshots, failStore, garble, loseStore, tamper } from "./troubles/stores.ts";
import { failHelm } from "./troubles/helm.ts";
import type { TroubleKind } from "./troubles/kinds.ts";
import {
  cutOff,
  deafen,
  holdLearners,
  nameMachinesTwice,
  pauseAndReboot,
  rebootFounding,
  rebootWaiting,
  slowDown,
} from "./troubles/machines.ts";
import { crashAtEachWrite, jumpClock, pauseBeforeSend, pauseOperator, stutter, takeLease } from "./troubles/operators.ts";
import { pauseCluster } from "./troubles/people.ts";
import { freezeWatches, lieToReads } from "./troubles/views.ts";

export type { TroubleInput } from "./troubles/input.ts";
export { ADDON_TROUBLES, BACKUP_TROUBLES, EDIT_TROUBLES, LATER_TROUBLES, TROUBLES, type TroubleKind } from "./troubles/kinds.ts";

/** What each of them does. Resolves when everything is as it was before. */
const troubles: Readonly<Record<TroubleKind, (input: TroubleInput, lastsMs: number) => Promise<void>>> = {
  "bundle-lost": loseBundle,
  "bundle-changed": loseBundle,
  "all-lost": loseAll,
  "lost-before-founding": loseBeforeFounding,
  "record-lost": loseRecord,
  "machine-cut-off": cutOff,
  "operator-paused": pauseOperator,
  "paused-before-record": pauseBeforeSend,
  "paused-before-send": pauseBeforeSend,
  "lease-taken": takeLease,
  "paused-and-rebooted": (input, lastsMs) => pauseAndReboot(input, 60_000 + lastsMs),
  "founded-by-hand": foundByHand,
  "founded-and-replaced": foundAndReplace,
  "two-operators": async ({ startOperator }) => startOperator(),
  "rebooted-waiting": rebootWaiting,
  "rebooted-founding": rebootFounding,
  "lying-reads": lieToReads,
  "stale-watches": freezeWatches,
  "second-cluster": nameMachinesTwice,
  "names-taken": takeName,
  "paused-by-person": pauseCluster,
  "clock-jump": jumpClock,
  "newer-record": writeNewer,
  "learner-stuck": holdLearners,
  "slow-machine": slowDown,
  "one-way": deafen,
  "operator-sluggish": stutter,
  "kube-errors": failKube,
  "talos-errors": failTalos,
  "watches-short": shortenWatches,
  "watches-garbled": garbleWatches,
  "lists-empty": emptyLists,
  "lease-lost": loseLease,
  "crash-loop": crashAtEachWrite,
  "addresses-swapped": swapAddresses,
  "disk-replaced": replaceDisk,
  "etcd-alarm": alarm,
  "etcd-full": fillEtcd,
  "etcd-corrupt": corruptEtcd,
  "time-passes": passTime,
  "children-deleted": deleteChildren,
  "store-errors": failStore,
  "store-away": loseStore,
  "store-garbles": garble,
  "store-tampered": tamper,
  "snapshots-damaged": damageSnapshots,
  "snapshots-broken": breakSnapshots,
  "helm-fails": failHelm,
};

/** Lets the trouble happen. Resolves when everything is as it was before. */
export async function makeTrouble(input: TroubleInput): Promise<void> {
  const lastsMs = 20_000 + Math.floor(input.random.fraction() * 180_000);
  await troubles[input.kind](input, lastsMs);
  input.trace(`trouble ${input.kind} is over`);
}
