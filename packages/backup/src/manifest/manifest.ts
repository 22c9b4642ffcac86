import { createHmac, timingSafeEqual } from "node:crypto";

import type { BackupFacts } from "./facts.ts";

/** Longest manifest that is read, bytes. */
export const MAX_MANIFEST_BYTES = 64 * 1024;
const VERSION = 1;

/**
 * A manifest as bytes: JSON with sorted keys, its version, the facts, and HMAC-SHA256 over all of that, so that nobody who can only write to the bucket can make
 * or change one.
 *
 * @param key base64, as `manifestKeyOf` gives it
 */
export function sealManifest(facts: BackupFacts, key: string): Uint8Array {
  const body = { version: VERSION, backup: facts };
  return Buffer.from(`${canonicalJson({ ...body, mac: macOf(body, key) })}\n`, "utf8");
}

/** `foreign`: not written under this key, or changed since; `newer`: by a later version of this operator; `unreadable`: no manifest at all. */
export type OpenedManifest = { readonly facts: BackupFacts } | { readonly refused: "foreign" | "newer" | "unreadable" };

export function openManifest(bytes: Uint8Array, key: string): OpenedManifest {
  const parsed = parseManifest(bytes);
  if (parsed === undefined) return { refused: "unreadable" };
  if (parsed.version !== VERSION) return { refused: "newer" };
  const { mac, ...body } = parsed;
  const given = Buffer.from(mac);
  const wanted = Buffer.from(macOf(body, key));
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return { refused: "foreign" };
  return isFacts(parsed.backup) ? { facts: parsed.backup } : { refused: "unreadable" };
}

/** The facts without a look at their authenticity: for people who have the bucket and not the secrets bundle. */
export function readManifestUnchecked(bytes: Uint8Array): BackupFacts | undefined {
  const parsed = parseManifest(bytes);
  return parsed?.version === VERSION && isFacts(parsed.backup) ? parsed.backup : undefined;
}

interface ParsedManifest {
  readonly version: number;
  readonly backup: unknown;
  readonly mac: string;
}

function parseManifest(bytes: Uint8Array): ParsedManifest | undefined {
  if (bytes.length > MAX_MANIFEST_BYTES) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
  if (!isRecord(parsed) || typeof parsed["version"] !== "number" || typeof parsed["mac"] !== "string") return undefined;
  if (!isShallow(parsed)) return undefined;
  return parsed as unknown as ParsedManifest;
}

const TEXTS = ["slot", "attempt", "object", "sha256", "storedSha256"];
const TIMES = ["startedAt", "endedAt"];
const MAYBE_TEXTS = ["keysObject", "storageVersion", "talosVersion", "kubernetesVersion"];
const NUMBERS = ["size", "storedSize", "revision", "totalKey", "liveKeys"];

function isFacts(value: unknown): value is BackupFacts {
  if (!isRecord(value) || !isRecord(value["source"])) return false;
  return (
    TEXTS.every((name) => typeof value[name] === "string") &&
    TIMES.every((name) => isTime(value[name])) &&
    MAYBE_TEXTS.every((name) => value[name] === undefined || typeof value[name] === "string") &&
    NUMBERS.every((name) => Number.isSafeInteger(value[name]) && (value[name] as number) >= 0) &&
    value["compression"] === "zstd" &&
    (value["encryption"] === "none" || value["encryption"] === "age") &&
    typeof value["source"]["machine"] === "string" &&
    typeof value["source"]["memberId"] === "string"
  );
}

/** As `Date.toISOString` writes it. */
function isTime(value: unknown): boolean {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(value) && !Number.isNaN(Date.parse(value));
}

function macOf(body: object, key: string): string {
  return createHmac("sha256", Buffer.from(key, "base64")).update(canonicalJson(body), "utf8").digest("base64");
}

/** Facts are nested twice; what a later version adds, a little more. */
const DEEPEST = 16;

/** What is nested deeper is none of ours: whoever may write to the bucket would have us run out of stack before the signature is looked at. */
function isShallow(value: unknown, left = DEEPEST): boolean {
  if (typeof value !== "object" || value === null) return true;
  return left > 0 && Object.values(value).every((member) => isShallow(member, left - 1));
}

/** JSON with sorted keys and without white space: equal values give equal texts. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
