import { createHash } from "node:crypto";

import type { BackupOwner } from "../task/task.ts";

/** S3's limit, bytes of UTF-8; every character of a key of ours is one byte. */
const MAX_KEY = 1024;
/** A slot and an attempt with what follows must fit into a file name of 255 bytes. */
const MAX_SLOT = 160;
const MAX_CONTROL_PLANE = 200;
const HASH_DIGITS = 12;

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SLOT = /^\d{8}T\d{6}Z-(.+)$/;
const ATTEMPT = /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/;
/** Letters, digits and `!-_.*'()` are what every store takes; parts are never empty, `.` or `..`. */
const PREFIX_PART = /^(?!\.{1,2}$)[A-Za-z0-9!_.*'()-]+$/;

/** Why no key can be built: a sentence. */
export class BackupKeyError extends Error {
  override readonly name = "BackupKeyError";
}

/** What an object below the folder of a cluster is. `slot` is the part of the key that stands for it, as {@link BackupKeys.slotPart} gives it. */
export type BackupObject =
  | { readonly kind: "manifest"; readonly slot: string }
  | { readonly kind: "data"; readonly slot: string; readonly attempt: string; readonly encryption: "none" | "age" }
  | { readonly kind: "keys"; readonly slot: string; readonly attempt: string }
  | { readonly kind: "probe" };

/**
 * Keys of one cluster's backups: all of them are below `folder`, which two clusters never share, whether of one name in two namespaces or one after the
 * other (S28).
 */
export interface BackupKeys {
  /** `<prefix>/<namespace>/<control plane>-<12 hex digits>`, without a slash at its end. */
  readonly folder: string;
  /** How a slot is written in keys: the slot itself, or when it is longer than a file name may be, its beginning, `_` and 12 hex digits of its SHA-256. */
  slotPart(slot: string): string;
  manifest(slot: string): string;
  data(slot: string, attempt: string, encryption: "none" | "age"): string;
  keys(slot: string, attempt: string): string;
  /** Shows once whether the store honours `If-None-Match`; stays there. */
  readonly probe: string;
  /** What an object is; `undefined` for one that is not of this cluster, or not named by us (S27). */
  parse(key: string): BackupObject | undefined;
}

/**
 * @param prefix of the place: parts of letters, digits and `!_.*'()-` between slashes, or empty
 * @throws BackupKeyError for an owner or a prefix that no key can be built of
 */
export function backupKeys(prefix: string, owner: BackupOwner): BackupKeys {
  if (prefix !== "" && !prefix.split("/").every((part) => PREFIX_PART.test(part)))
    throw new BackupKeyError(
      `the prefix ${quoted(prefix)} has parts that a key cannot have: use letters, digits and - _ . between slashes`,
    );
  if (!LABEL.test(owner.namespace)) throw new BackupKeyError(`${quoted(owner.namespace)} is no name of a namespace`);
  if (!SUBDOMAIN.test(owner.controlPlane)) throw new BackupKeyError(`${quoted(owner.controlPlane)} is no name of a TalosControlPlane`);
  if (owner.clusterId === "") throw new BackupKeyError("the cluster has no id");
  const cluster = `${shortened(owner.controlPlane, MAX_CONTROL_PLANE)}-${digits(owner.clusterId)}`;
  const folder = [...(prefix === "" ? [] : [prefix]), owner.namespace, cluster].join("/");
  const key = (name: string): string => {
    const text = `${folder}/${name}`;
    if (text.length > MAX_KEY)
      throw new BackupKeyError(`a key would have ${text.length} characters, and ${MAX_KEY} are the most: use a shorter prefix`);
    return text;
  };
  const tryPart = (slot: string, attempt: string): string => {
    if (!ATTEMPT.test(attempt)) throw new BackupKeyError(`${quoted(attempt)} is no attempt: it has up to 40 of a-z, 0-9 and -`);
    return `${slotPart(slot)}.${attempt}`;
  };
  return {
    folder,
    slotPart,
    manifest: (slot) => key(`${slotPart(slot)}.json`),
    data: (slot, attempt, encryption) => key(`${tryPart(slot, attempt)}.db.zst${encryption === "age" ? ".age" : ""}`),
    keys: (slot, attempt) => key(`${tryPart(slot, attempt)}.keys.age`),
    probe: key("conditional-put.probe"),
    parse: (text) => (text.startsWith(`${folder}/`) ? parseName(text.slice(folder.length + 1)) : undefined),
  };
}

/** {@link BackupKeys.slotPart}, which is the same for every cluster. @throws BackupKeyError for what is no slot */
export function slotPart(slot: string): string {
  const name = SLOT.exec(slot)?.[1];
  if (name === undefined || name.length > 253 || !SUBDOMAIN.test(name))
    throw new BackupKeyError(`${quoted(slot)} is no slot: it is <time in UTC>-<name>, such as 20261123T020000Z-nightly`);
  return shortened(slot, MAX_SLOT);
}

/** What a name below the folder of any cluster is. The last ending says what it is, so dots in names leave nothing in doubt. */
export function parseName(name: string): BackupObject | undefined {
  if (name === "conditional-put.probe") return { kind: "probe" };
  const ending = /\.(json|db\.zst\.age|db\.zst|keys\.age)$/.exec(name);
  if (ending === null) return undefined;
  const stem = name.slice(0, ending.index);
  if (ending[1] === "json") return isSlotPart(stem) ? { kind: "manifest", slot: stem } : undefined;
  const dot = stem.lastIndexOf(".");
  const slot = stem.slice(0, Math.max(0, dot));
  const attempt = stem.slice(dot + 1);
  if (!isSlotPart(slot) || !ATTEMPT.test(attempt)) return undefined;
  if (ending[1] === "keys.age") return { kind: "keys", slot, attempt };
  return { kind: "data", slot, attempt, encryption: ending[1] === "db.zst" ? "none" : "age" };
}

function isSlotPart(text: string): boolean {
  const name = SLOT.exec(text)?.[1];
  if (name === undefined || text.length > MAX_SLOT) return false;
  // A shortened one may have been cut behind a dot or a dash.
  return SUBDOMAIN.test(name) || (text.length === MAX_SLOT && /^[a-z0-9][-a-z0-9.]*_[0-9a-f]{12}$/.test(name));
}

function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - HASH_DIGITS - 1)}_${digits(text)}`;
}

function digits(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, HASH_DIGITS);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
