import { integer, object, oneOf, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

const time = (description: string) => string({ description, format: "date-time" });
const bytes = (description: string) => integer({ description, format: "int64", minimum: 0 });

const source = object(
  {
    machine: required(string({ description: "Name of the TalosMachine." })),
    memberId: required(string({ description: "Its etcd member, 16 hex digits." })),
  },
  { description: "The member that the snapshot was taken from." },
);

/** The member that a snapshot was taken from. */
export interface BackupSource extends Infer<typeof source> {}
const sourceField: Field<BackupSource, false> = source;

/** What is stored, as its manifest says: `status` of a TalosEtcdBackup from the moment when the manifest was read back. */
export const backupFactFields = {
  filename: string({ description: "Key of the stored snapshot, below bucket or folder." }),
  stateFilename: string({ description: "Key of the cluster's keys, encrypted to the recipients. Absent without recipients." }),
  size: bytes("Bytes of the plain snapshot."),
  storedSize: bytes("Bytes that are stored: compressed, and encrypted where recipients are given."),
  sha256: string({ description: "SHA-256 of the plain snapshot without its trailer, which says the same. Hex." }),
  storedSha256: string({ description: "SHA-256 of the stored bytes, hex." }),
  revision: integer({ description: "Revision of etcd at which the snapshot was taken.", format: "int64", minimum: 0 }),
  totalKey: integer({
    description: "Keys as etcdutl snapshot status counts them: every stored revision and every other entry.",
    format: "int64",
    minimum: 0,
  }),
  liveKeys: integer({ description: "Keys that exist at the revision.", format: "int64", minimum: 0 }),
  storageVersion: string({ description: "Storage version of etcd, for example 3.6.0; absent before 3.6." }),
  talosVersion: string({ description: "Talos that ran." }),
  kubernetesVersion: string({ description: "Kubernetes that ran." }),
  source: sourceField,
  startTime: time("When the first byte was asked for."),
  completionTime: time("When the manifest was there and what is stored had been read back."),
  place: string({ description: "The store, for people: bucket and endpoint, or folder. Holds no secret." }),
  encryption: oneOf(["none", "age"], { description: "Whether the stored bytes are encrypted to recipients." }),
};

const run = object(
  {
    name: required(string({ description: "Name of the Job, or of the child process." })),
    attempt: required(string({ description: "This try; the stored objects carry it." })),
    task: required(oneOf(["take", "prove", "remove"], { description: "What it does." })),
    startedAt: required(time("When it was begun.")),
    source: sourceField,
  },
  { description: "The run that is open. Absent when none is." },
);

/** The run that is open. */
export interface BackupRun extends Infer<typeof run> {}
export const backupRunField: Field<BackupRun, false> = run;

const proof = object(
  {
    how: required(
      oneOf(["Restored", "ReadOnly", "BytesCompared"], {
        description:
          "Restored: genuine etcd opened it with the recorded revision and key count. ReadOnly: every page was read without etcd. BytesCompared: the stored bytes have the recorded checksum.",
      }),
    ),
    on: required(
      oneOf(["AtWriting", "FromStore"], {
        description: "AtWriting: on the plain bytes while they were stored. FromStore: on what the store gave back.",
      }),
    ),
    at: required(time("When.")),
    restoreMs: integer({ description: "Milliseconds that the restore took.", format: "int64", minimum: 0 }),
    weakerBecause: oneOf(["NoEtcd", "EtcdTooOld", "NoIdentity", "NoRoom"], {
      description:
        "Why it is no stronger one: no etcd beside the worker, an older one than the snapshot's, no identity that decrypts, or no room to restore.",
    }),
  },
  { description: "The last proof that held." },
);

/** The last proof that held. */
export interface BackupProof extends Infer<typeof proof> {}
export const backupProofField: Field<BackupProof, false> = proof;
