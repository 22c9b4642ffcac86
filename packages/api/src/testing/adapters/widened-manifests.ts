import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";

interface Differences {
  readonly widenings: readonly { readonly file?: string; readonly files?: readonly string[] }[];
}

/** Manifests that the published CRDs refuse and ours take on purpose: those that `docs/reference/schema-differences.yaml` names. */
export function widenedManifests(): ReadonlySet<string> {
  const path = join(import.meta.dirname, "../../../../../docs/reference/schema-differences.yaml");
  const { widenings } = load(readFileSync(path, "utf8")) as Differences;
  return new Set(widenings.flatMap(({ file, files = [] }) => [...(file === undefined ? [] : [file]), ...files]));
}
