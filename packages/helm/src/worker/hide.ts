import { createHash } from "node:crypto";
import { dump, loadAll } from "js-yaml";
import type { ManifestObject } from "./objects-in.ts";
import { textsOf } from "./texts-of-values.ts";

/** What stands for a value that is not told. */
export const HIDDEN = "***";

/** A value as it may be told. */
export type Hide = (text: string) => string;

/** Every text of the Secrets of a manifest, decoded as well, and of the values that stand in Secrets: a chart may write them anywhere. */
export function secretsIn(objects: readonly ManifestObject[], hidden: readonly string[]): ReadonlySet<string> {
  const ofObjects = objects
    .filter(({ kind }) => kind === "Secret")
    .flatMap((secret) => [
      JSON.stringify(secret["stringData"] ?? {}),
      JSON.stringify(secret["data"] ?? {}),
      ...Object.values((secret["data"] ?? {}) as Readonly<Record<string, unknown>>).map((text) =>
        JSON.stringify([Buffer.from(String(text), "base64").toString("utf8")]),
      ),
    ]);
  return new Set(textsOf([...hidden, ...ofObjects], 1));
}

/** A short secret hides what is the same, a longer one what holds it, too. Pure. */
export function hiding(secrets: ReadonlySet<string>): Hide {
  const long = [...secrets].filter((one) => one.length >= 6);
  return (text) => (secrets.has(text) || long.some((one) => text.includes(one)) ? HIDDEN : text);
}

/** The same values with other texts and numbers in them: whatever a chart makes of them, encoded, joined or cut, comes out as something else. */
export function disguised(document: string): string {
  return loadAll(document, null, { json: true })
    .map((one) => dump(otherThan(one), { noRefs: true }))
    .join("---\n");
}

function otherThan(value: unknown): unknown {
  if (typeof value === "string")
    return digestOf(value)
      .repeat(Math.ceil(value.length / 64))
      .slice(0, value.length);
  if (typeof value === "number") return Number.parseInt(digestOf(String(value)).slice(0, 4), 16);
  if (Array.isArray(value)) return value.map(otherThan);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, otherThan(one)]));
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
