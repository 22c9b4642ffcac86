import type {
  BackupRun,
  ConditionInput,
  EventReason,
  Finding,
  ReadyReason,
  TalosEtcdBackup,
  TalosEtcdBackupStatus,
} from "@talos-operator/api";
import type { BackupRunState } from "../../backups/runner.ts";
import type { EndedRun } from "../../metrics/backup-figures.ts";
import type { BackupSources } from "../../assess/backup-sources.ts";
import type { RecordClaims } from "./claim.ts";

/** The cluster that a backup is of. */
export type SeenCluster =
  | { readonly kind: "absent"; readonly message: string }
  /** This process has not looked at it yet. */
  | { readonly kind: "not-looked"; readonly name: string }
  | { readonly kind: "present"; readonly name: string; readonly sources: BackupSources; readonly claims: RecordClaims };

/** What a run needs beside what the cluster shows: asked for only when one is about to begin. */
export type Needs =
  | { readonly kind: "not-asked" }
  /** `unlabelled`: Secrets with the keys of the store that lack their label. */
  | { readonly kind: "there"; readonly unlabelled?: readonly string[] }
  | { readonly kind: "missing"; readonly reason: ReadyReason; readonly message: string; readonly unlabelled?: readonly string[] };

/** Everything that one pass over a backup looks at. */
export interface BackupSeen {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly backup: TalosEtcdBackup;
  readonly problems: readonly Finding[];
  /** Its namespace is going away. */
  readonly isTerminating: boolean;
  readonly cluster: SeenCluster;
  readonly needs: Needs;
  /** The run that status names; `undefined` where it names none. */
  readonly run: BackupRunState | undefined;
  /** Runs of other backups that are not ended. */
  readonly othersRunning: number;
  /** Since when it waits for a disruption, as this process knows it. */
  readonly waitingSince: number | undefined;
}

/** What is done, at most one thing in a pass. */
export type BackupAct =
  | { readonly kind: "none" }
  | { readonly kind: "add-finalizer" }
  | { readonly kind: "remove-finalizer" }
  /** Claim the cluster where the task is `take`, say it in the status, start. */
  | { readonly kind: "begin"; readonly run: BackupRun }
  /** Status names it, and nobody has started it, or nobody knows it any more. */
  | { readonly kind: "start"; readonly run: BackupRun }
  /** The object, whose time is over. */
  | { readonly kind: "delete" };

/** Something for people, once the status is stored. */
export interface BackupNews {
  readonly reason: EventReason;
  readonly note: string;
  /** `namespace`: it is said of the Namespace, where it outlives what is in it. Default: of the backup. */
  readonly on?: "namespace";
}

/** `status` without its conditions; `undefined` takes a field away. */
export type BackupFields = { readonly [K in keyof Omit<TalosEtcdBackupStatus, "conditions">]?: TalosEtcdBackupStatus[K] | undefined };

/** What a pass does and says. A run that the status does not name any more is ended, and its claim released, by every pass. */
export interface BackupDecision {
  readonly act: BackupAct;
  readonly fields: BackupFields;
  readonly conditions: readonly ConditionInput[];
  /** A run goes on, or is about to. */
  readonly isBusy: boolean;
  readonly news: readonly BackupNews[];
  readonly waitsForDisruption: boolean;
  readonly requeueAfterMs?: number;
  /** A run that is over by this pass, for the figures. */
  readonly ended?: EndedRun;
  /** It was due and could not begin in time. */
  readonly isMissed?: boolean;
}
