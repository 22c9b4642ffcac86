import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CORE_SCHEMA, boolYaml11Tag, floatYaml11Tag, intYaml11Tag, load, mergeTag, nullYaml11Tag } from "js-yaml";
import type { KubeManifest, ManifestCase, Verdict } from "../manifest-corpus.ts";

/** The manifests of this package: each rule of the four published kinds kept and broken, every field set once, updates, status writes. */
export const corpusFolder = join(import.meta.dirname, "../../../testdata/manifests");

/** Scalars as kubectl reads them, which is YAML 1.1 without dates: `0o666` is a string, `0644` is 420, `yes` is true. */
const kubectlSchema = CORE_SCHEMA.withTags(boolYaml11Tag, intYaml11Tag, floatYaml11Tag, nullYaml11Tag, mergeTag);

interface IndexEntry {
  readonly file: string;
  readonly kind?: string;
  readonly kinds?: readonly string[];
  readonly expected: Verdict;
  readonly apply?: Verdict;
  readonly kubectlApply?: { readonly verdict: Verdict };
  readonly updateOf?: string;
  readonly statusSubresource?: boolean;
}

/**
 * Reads a folder of manifests with `index.json` (expected verdicts) and `defaulted.json` (stored specs).
 *
 * @param folder default: {@link corpusFolder}
 * @param kinds only manifests of these kinds; default: all
 */
export function loadManifestCorpus(folder: string = corpusFolder, kinds?: readonly string[]): readonly ManifestCase[] {
  const { files } = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")) as { files: readonly IndexEntry[] };
  const storedSpecs = JSON.parse(readFileSync(join(folder, "defaulted.json"), "utf8")) as Record<string, unknown>;
  const read = (file: string) => load(readFileSync(join(folder, file), "utf8"), { schema: kubectlSchema }) as KubeManifest;
  return files
    .filter(
      (entry) => kinds === undefined || [entry.kind, ...(entry.kinds ?? [])].some((kind) => kind !== undefined && kinds.includes(kind)),
    )
    .map((entry) => ({
      file: entry.file,
      object: read(entry.file),
      expected: entry.expected,
      apply: entry.apply ?? entry.kubectlApply?.verdict ?? entry.expected,
      isStatusWrite: entry.statusSubresource === true,
      ...(entry.updateOf !== undefined && { updateOf: read(entry.updateOf) }),
      ...(entry.file in storedSpecs && { storedSpec: storedSpecs[entry.file] }),
    }));
}
