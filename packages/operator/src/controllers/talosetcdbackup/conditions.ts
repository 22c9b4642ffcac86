import { conditionFor, findCondition, releaseOf } from "@talos-operator/api";
import type { ConditionInput, ReadyReason, ReasonOf, TalosEtcdBackup, TalosEtcdBackupSpec } from "@talos-operator/api";
import type { Proof } from "@talos-operator/backup";
import { isPlain } from "./place.ts";

/** How far a backup is. */
export type Word = "BackupInProgress" | "BackupSucceeded" | "BackupFailed";

/** Conditions that follow from how a backup is, and from its spec. `proved` is kept from before where this pass knows nothing new. */
export function backupConditions(
  backup: TalosEtcdBackup,
  word: Word,
  ready: { readonly reason: ReadyReason; readonly message: string },
  proved?: ConditionInput,
): readonly ConditionInput[] {
  const { generation } = backup.metadata;
  const isHeld = word === "BackupInProgress" && releaseOf({ type: "Ready", reason: ready.reason }) === "person";
  return [
    conditionFor("Ready", ready.reason, ready.message, generation),
    conditionFor("Progressing", isHeld ? "Blocked" : word, ready.message, generation),
    conditionFor("Failed", isHeld ? "NotStarted" : word, isHeld ? "See Ready." : ready.message, generation),
    proved ?? storedCondition(backup, "Proved") ?? conditionFor("Proved", "NotProvedYet", "No backup is stored yet.", generation),
    ...standingConditions(backup.spec, generation),
    ...(word === "BackupSucceeded" ? changedConditions(backup) : []),
  ];
}

/** What the spec says by now of how the backup was taken, and is not so: it cannot be taken otherwise any more. */
function changedConditions({ spec, status, metadata }: TalosEtcdBackup): readonly ConditionInput[] {
  const { clusterRef, talosControlPlaneRef, encryption } = spec;
  const named = clusterRef === undefined ? talosControlPlaneRef?.name : undefined;
  const isForSomebody = (encryption?.recipients ?? []).length > 0;
  const changed = [
    ...(named !== undefined && status?.controlPlane !== undefined && named !== status.controlPlane
      ? [`spec.talosControlPlaneRef names ${named}, and the backup is of ${status.controlPlane}`]
      : []),
    ...(status?.encryption !== undefined && isForSomebody !== (status.encryption === "age")
      ? [
          `spec.encryption ${isForSomebody ? "names recipients, and the backup is stored in clear" : "names no recipient, and the backup is encrypted"}`,
        ]
      : []),
  ];
  if (changed.length === 0) return [];
  const message = `Changed after the backup was taken: ${changed.join("; ")}. Make another TalosEtcdBackup, or set it back.`;
  return [conditionFor("FieldNotSupported", "ChangedAfterBackup", message, metadata.generation)];
}

/** What a spec asks for that people should know, whatever becomes of the backup. */
export function standingConditions(
  { encryption, backupStorage: { s3 } }: TalosEtcdBackupSpec,
  generation: number | undefined,
): readonly ConditionInput[] {
  return [
    ...((encryption?.recipients ?? []).length > 0
      ? []
      : [
          conditionFor(
            "KeysNotBackedUp",
            "NoRecipients",
            "The backup holds etcd alone: the cluster's keys are stored only encrypted to somebody. Name an age recipient in spec.encryption.recipients.",
            generation,
          ),
        ]),
    ...(s3?.insecureSkipTLSVerify === true
      ? [conditionFor("InsecureObjectStorage", "CertificateNotChecked", "The store's certificate is not checked.", generation)]
      : isPlain(s3?.endpoint)
        ? [
            conditionFor(
              "InsecureObjectStorage",
              "PlainText",
              "The endpoint is http: anyone on the network path can read the backup.",
              generation,
            ),
          ]
        : []),
  ];
}

/** A condition as it is stored, to be said again. */
export function storedCondition({ status }: TalosEtcdBackup, type: "Proved" | "BackupStoreSecretUnlabelled"): ConditionInput | undefined {
  const found = findCondition(status?.conditions, type);
  if (found === undefined) return undefined;
  const { lastTransitionTime: _kept, ...input } = found;
  return input;
}

const HOW = { restored: "Restored", read: "ReadOnly", stored: "BytesCompared" } as const;
const ON = { writing: "AtWriting", store: "FromStore" } as const;
const WEAKER = { "no-etcd": "NoEtcd", "etcd-too-old": "EtcdTooOld", "no-identity": "NoIdentity", "no-room": "NoRoom" } as const;

/** A worker's proof as status has it. */
export function proofField(proof: Proof, at: string): NonNullable<NonNullable<TalosEtcdBackup["status"]>["proof"]> {
  const { how, on, restoreMs, weakerBecause } = proof;
  return {
    how: HOW[how],
    on: ON[on],
    at,
    ...(restoreMs === undefined ? {} : { restoreMs: Math.round(restoreMs) }),
    ...(weakerBecause === undefined ? {} : { weakerBecause: WEAKER[weakerBecause] }),
  };
}

/** The condition that says how a backup was proved. */
export function provedCondition({ how, on, weakerBecause }: Proof, at: string, generation: number | undefined): ConditionInput {
  const reason: ReasonOf<"Proved"> = how === "read" && weakerBecause === "etcd-too-old" ? "EtcdTooOld" : HOW[how];
  const bytes = on === "writing" ? "on the plain bytes while they were stored" : "on what the store gave back";
  const what = {
    restored: "Genuine etcd opened it with the recorded revision and key count",
    read: "Every page was read and counted, without etcd",
    stored: "What is stored has the recorded checksum",
  }[how];
  return conditionFor("Proved", reason, `${what}, ${bytes} (${ON[on]}), at ${at}.`, generation);
}
