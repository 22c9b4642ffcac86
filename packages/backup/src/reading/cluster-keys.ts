import type { ObjectStore } from "@talos-operator/ports";

import { type BackupCodec, CodecFailure } from "../worker/deps.ts";
import { ReadFault } from "./read-fault.ts";

/** The keys of a cluster as they are stored with a backup. Secret. */
export interface ClusterKeys {
  /** Secrets bundle, YAML. */
  readonly bundle: string;
  /** ClusterRecord, JSON. Absent: the import of the cluster was pending, and there was none. */
  readonly record?: string;
}

/** More than a bundle and a record of the largest cluster have. Bytes. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Decrypts the keys of a cluster. No message quotes what is in them.
 *
 * @param identity an age identity file as a text
 * @throws ReadFault, and what the store throws
 */
export async function readClusterKeys(
  store: Pick<ObjectStore, "place" | "get">,
  key: string,
  options: { readonly codec: Pick<BackupCodec, "decrypt">; readonly identity: string; readonly signal: AbortSignal },
): Promise<ClusterKeys> {
  const { codec, identity, signal } = options;
  const stored = await store.get(key, { signal });
  if (stored === undefined) throw new ReadFault("damaged", `the keys of the cluster, ${key}, are not in ${store.place} any more`);
  if (stored.size > MOST_BYTES) throw new ReadFault("damaged", `${key} has ${stored.size} bytes: more than keys have`);
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of codec.decrypt(stored.body, identity)) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof CodecFailure) || error.kind === "bad-recipient") throw error;
    const message =
      error.kind === "damaged" ? `${key} is damaged: ${error.message}` : `${key}: ${error.message.replace(/\. [A-Z].*$/s, "")}`;
    throw new ReadFault(error.kind, message, { cause: error });
  }
  const keys = parsed(Buffer.concat(chunks).toString("utf8"));
  if (keys === undefined) throw new ReadFault("newer", `${key} holds keys in a form that this version does not know`);
  return keys;
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function parsed(text: string): ClusterKeys | undefined {
  try {
    const value = JSON.parse(text) as { readonly version?: unknown; readonly bundle?: unknown; readonly record?: unknown } | null;
    if (value?.version !== 1 || typeof value.bundle !== "string" || !isTextOrAbsent(value.record)) return undefined;
    return { bundle: value.bundle, ...(value.record === undefined ? {} : { record: value.record }) };
  } catch {
    // Without the cause, which quotes.
    return undefined;
  }
}
