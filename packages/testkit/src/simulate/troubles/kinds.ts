/** What the world does to a cluster in one run, beside the crashes: at most one of these, or one of those that are played later. */
export const TROUBLES = [
  /** Somebody takes the finalizer off the bundle Secret and deletes it; minutes later it is put back from a backup. */
  "bundle-lost",
  /** A machine is cut off the network for a while. */
  "machine-cut-off",
  /** The operator's process stands still for longer than its lease; another takes over; then the first one goes on. */
  "operator-paused",
  /** Two operators run from the start. */
  "two-operators",
  /** Reads of record and bundle are answered with 404 or 500 though they are there. */
  "lying-reads",
  /** A machine loses its power while it waits for its configuration. A person confirms it if it was written down already. */
  "rebooted-waiting",
  /** The machine that was asked to bootstrap etcd loses its power before its etcd starts. */
  "rebooted-founding",
  /** Watches stand still for a while. */
  "stale-watches",
  /** Another cluster object names the same machines. */
  "second-cluster",
  /** As "bundle-lost", and in between there is a Secret with other keys. */
  "bundle-changed",
  /** The record is deleted while the machine that founded etcd is out of sight. */
  "record-lost",
  /** Somebody else's Secrets have the names of the bundle or of the kubeconfig. */
  "names-taken",
  /** A person pauses the cluster for a while. */
  "paused-by-person",
  /** As "operator-paused", and a machine loses what it had in memory meanwhile. */
  "paused-and-rebooted",
  /** As "operator-paused", and meanwhile a person bootstraps etcd on another machine than the recorded one. */
  "founded-by-hand",
  /** Record and bundle of a cluster that runs are deleted, and put back later. */
  "all-lost",
  /** The operator's clock is an hour wrong, or six: for a while, or from then on. */
  "clock-jump",
  /** Record and bundle are deleted when the first machines have their configuration and etcd is not bootstrapped, and put back later. */
  "lost-before-founding",
  /** Right before the call to bootstrap etcd is sent, a person founds it on another machine, and that one's address goes to a machine that waits. */
  "founded-and-replaced",
  /** As "operator-paused", between its last check and the send of the record: what it writes then is old. */
  "paused-before-record",
  /** The same between its last check and the send of something else. */
  "paused-before-send",
  /** The lease is deleted and taken by another operator; the first has not noticed yet. */
  "lease-taken",
] as const;

/** Those that are played only where they are asked for (`--trouble`), or in turn (`--trouble rotate`), with any workload. */
export const LATER_TROUBLES = [
  /** A newer release wrote something into the record, and this one runs again; later it is taken out. */
  "newer-record",
  /** No etcd catches up: whoever joins stays a learner for a while. */
  "learner-stuck",
  /** Every call to one machine takes two seconds and more, as with a slow disk. */
  "slow-machine",
  /** One machine hears everything, and nobody hears it. */
  "one-way",
  /** The operator's event loop stands still for seconds, again and again; its lease does not run out. */
  "operator-sluggish",
  /** Requests to the Kubernetes APIs are answered with every status there is, whether they took place or not. */
  "kube-errors",
  /** Calls to machines are answered with every gRPC code there is, whether they took place or not. */
  "talos-errors",
  /** Every watch ends after a second. */
  "watches-short",
  /** Events come twice, late, out of order, or never with the watch broken behind them. */
  "watches-garbled",
  /** All watches end, and the lists after them are empty: twice each, or some of them for as long as it lasts. */
  "lists-empty",
  /** Nobody reaches the lease for longer than it lasts, three times; now and then it is deleted as well. */
  "lease-lost",
  /** Three to fourteen writes in a row each end the operator that makes them. */
  "crash-loop",
  /** Two machines have each other's addresses for a while. */
  "addresses-swapped",
  /** A machine gets another disk, and a person allows it to join again. */
  "disk-replaced",
  /** etcd raises an alarm for a while without a cause: CORRUPT, or NOSPACE. The cluster's own API takes no writes meanwhile. */
  "etcd-alarm",
  /** Hours or months pass at once for everybody: certificates have ended. */
  "time-passes",
  /** Somebody deletes TalosMachines and Secrets that the operator made, but not the keys. */
  "children-deleted",
  /** etcd fills up to its quota until somebody makes room: the cluster's own API takes no writes. */
  "etcd-full",
  /** One member of etcd has other data than the others, until somebody brings it the right ones: the cluster's own API takes no writes. */
  "etcd-corrupt",
] as const;

/** Those that can befall a cluster that is Ready, whatever is done to it. */
export const EDIT_TROUBLES = [
  "machine-cut-off",
  "operator-paused",
  "two-operators",
  "lying-reads",
  "stale-watches",
  "paused-before-record",
  "clock-jump",
  "paused-before-send",
  "lease-taken",
] as const satisfies readonly (typeof TROUBLES)[number][];

/** Those that need backups, played with workloads that have them. */
export const BACKUP_TROUBLES = [
  /** The store fails, or its answers are lost, with everything that it may say. */
  "store-errors",
  /** Snapshots end early as if they were whole, or have changed bytes, or the hash of another. */
  "snapshots-damaged",
  /** Somebody changes or takes away a part of a backup. */
  "store-tampered",
  /** What the store makes of an upload has a wrong byte, for a while. */
  "store-garbles",
  /** Nobody reaches the store for a while. */
  "store-away",
  /** Snapshots are slow, and machines lose their power in the middle of one. */
  "snapshots-broken",
] as const;

/** Those that need addons, played with workloads that have them. */
export const ADDON_TROUBLES = [
  /** Helm fails in every way: it hangs, dies in the middle, does all and reports nothing, or says why not. */
  "helm-fails",
] as const;

export type TroubleKind = (typeof TROUBLES | typeof LATER_TROUBLES | typeof BACKUP_TROUBLES | typeof ADDON_TROUBLES)[number];
