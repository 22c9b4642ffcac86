import { isReadFault, type ReadFault, type ReadFaultKind } from "@talos-operator/backup/reading";
import { isSnapshotError } from "@talos-operator/etcd-snapshot";
import type { ObjectStoreFailure, ObjectStoreFailureKind } from "@talos-operator/ports";
import { CliError } from "../cli-error.ts";

/** Bytes that are not what they were: nothing but another backup helps. */
export const DAMAGED = 4;

/** What a person does next, by what a store said. */
const STORES: Readonly<Record<ObjectStoreFailureKind, string>> = {
  unreachable:
    "Check --endpoint, or the endpoint of the object, and that this machine reaches it: a name of the cluster's own network is known only there.",
  tls: "Name the store's authority with --ca-file, or in caBundle of the object.",
  handshake: "Correct http:// or https:// of --endpoint, or of the object, and the port.",
  denied:
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or correct the Secret of the object: the keys must be allowed to list and to read.",
  expired: "Renew the keys: AWS_SESSION_TOKEN, or the Secret of the object.",
  clock: "Set the clock of this machine.",
  missing: "Check the name of the bucket or folder, --region and --endpoint.",
  exists: "Look at what stands there.",
  unsupported: "Give --path-style, or the address of an S3 store.",
  conflict: "Try again.",
  full: "Try again later.",
  "slow-down": "Try again later.",
  failing: "Look at the store: it fails by itself.",
  "cut-off": "Try again; look at the network when it stays.",
  damaged: "Try again; look at the network and the store when it stays.",
  redirected: "Give the region and the endpoint that the store has: --region, --endpoint.",
  locked: "Wait until the lock is over.",
  invalid: "Correct the address: s3://BUCKET/KEY, and --endpoint https://HOST.",
};

const FAULTS: Readonly<Record<ReadFaultKind, { readonly remedy: string; readonly exitCode?: number }>> = {
  missing: {
    remedy:
      "Look what is there with `talos-operator backup list`, and name the manifest or the snapshot; what kubectl shows is talosetcdbackup/NAME.",
  },
  "not-a-backup": { remedy: "Name a manifest, a stored snapshot, or a file of `talosctl etcd snapshot`." },
  keys: {
    remedy:
      "Move what is in clear to where nobody but you reads it. Name the snapshot beside it; keys that are encrypted are written by `backup get --keys`.",
  },
  "no-identity": { remedy: "Give --identity FILE, with the age identity of one of the recipients: what age-keygen wrote." },
  "bad-identity": { remedy: "Give --identity the file of another recipient; age-keygen -y FILE prints whose it is." },
  damaged: { remedy: "Do not restore it: take another backup, and find out who writes to the store.", exitCode: DAMAGED },
  "too-large": { remedy: "If you trust its origin, give --max-size, for example --max-size 8Gi, and have so much room." },
  foreign: {
    remedy: "Name a backup of this cluster. To look into one of another cluster give its address: its signature is not checked then.",
    exitCode: DAMAGED,
  },
  newer: { remedy: "Use the command line of that version." },
};

/** Runs what reads backups; what goes wrong with store or bytes is said with what to do. @throws CliError, and what is none of these */
export async function explained<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (signal.aborted) throw new CliError("stopped", "Run it again.", { cause: thrown });
    throw explanationOf(thrown);
  }
}

function explanationOf(thrown: unknown): unknown {
  if (isReadFault(thrown)) return ofFault(thrown);
  if (isStoreFailure(thrown)) return new CliError(withoutEnd(thrown.message), STORES[thrown.kind], { cause: thrown });
  if (isSnapshotError(thrown))
    return new CliError(withoutEnd(thrown.message), "Inspect another snapshot.", {
      cause: thrown,
      ...(isSnapshotError(thrown, "CORRUPT", "TRUNCATED") ? { exitCode: DAMAGED } : {}),
    });
  return thrown;
}

function ofFault(fault: ReadFault): CliError {
  const { remedy, exitCode } = FAULTS[fault.kind];
  return new CliError(withoutEnd(fault.message), remedy, { cause: fault, ...(exitCode === undefined ? {} : { exitCode }) });
}

function isStoreFailure(thrown: unknown): thrown is ObjectStoreFailure {
  return thrown instanceof Error && thrown.name === "ObjectStoreFailure";
}

function withoutEnd(message: string): string {
  return message.replace(/\.$/, "");
}
