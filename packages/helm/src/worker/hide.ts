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
