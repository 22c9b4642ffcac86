import { identityText } from "../document-identity.ts";
import { checkConflicts } from "../document/conflicts.ts";
import { checkOnlyOnce, identityOfDocument, isNull, loadDocument, type ConfigDocument } from "../document/load.ts";
import { merge } from "../document/merge.ts";
import type { ConfigMap } from "../document/value.ts";
import { ConfigError } from "../errors.ts";
import type { Generation } from "../schema/notation.ts";
import type { YamlNode } from "../yaml/node.ts";
import { readYaml, type ReadLimits } from "../yaml/read.ts";
import { applyDeletion, splitDeletions, type Deletion } from "./deletes.ts";

/** A partial config: its documents are merged over those of the same identity, in their order. */
export type StrategicStep =
  { readonly kind: "delete"; readonly deletion: Deletion } | { readonly kind: "merge"; readonly document: ConfigDocument };

/**
 * Reads a patch that is a fragment of a config.
 *
 * @throws ConfigError like reading a config, and `PATCH_DELETE`; `MISSING_DOCUMENT` when it holds no document at all
 */
export function loadStrategicPatch(text: string, generation: Generation, limits: ReadLimits): readonly StrategicStep[] {
  const seen = new Set<string>();
  const steps = readYaml(text, limits).flatMap(({ root }): StrategicStep[] => {
    if (root === undefined || isNull(root)) return [];
    const { deletions, rest } = splitWithLine(root, text);
    const removed = deletions.map((deletion): StrategicStep => ({ kind: "delete", deletion }));
    if (rest === undefined) return removed;
    // Newer Talos takes a document twice in one patch and merges both.
    if (generation === "1.13" && rest.type === "mapping") checkOnlyOnce(rest, seen);
    return [...removed, { kind: "merge", document: loadDocument(rest, generation) }];
  });
  if (steps.length === 0) throw new ConfigError("MISSING_DOCUMENT", "config not found");
  return steps;
}

function splitWithLine(root: YamlNode, text: string): ReturnType<typeof splitDeletions> {
  try {
    return splitDeletions(root);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const detail = `error processing patch delete statements at line ${startOf(root, text)}: ${error.detail}`;
    throw new ConfigError(error.code, detail, { path: error.path, line: error.line }, { cause: error });
  }
}

/** The line of the mark before a document, or where it begins without one. */
function startOf(root: YamlNode, text: string): number {
  const before = text.split("\n").slice(0, root.line);
  const mark = before.findLastIndex((line) => /^---(?:\s|$)/.test(line));
  return mark < 0 ? root.line : mark + 1;
}

/**
 * The documents with a patch applied. Documents that are not there are appended; deleting one that is not there does nothing.
 *
 * @throws ConfigError `PATCH_DELETE`, `PATCH_MERGE`, `DUPLICATE_DOCUMENT`
 */
export function applyStrategicPatch(documents: readonly ConfigDocument[], steps: readonly StrategicStep[]): readonly ConfigDocument[] {
  const out = [...documents];
  for (const step of steps) {
    const identity = step.kind === "delete" ? step.deletion.document : identityText(identityOfDocument(step.document));
    const index = out.findIndex((document) => identityText(identityOfDocument(document)) === identity);
    const there = out[index];
    if (step.kind === "delete") {
      const left = there === undefined ? undefined : applyDeletion(there, step.deletion);
      if (left !== undefined) out[index] = left;
      else if (there !== undefined) out.splice(index, 1);
    } else if (there === undefined) {
      out.push(step.document);
    } else {
      out[index] = mergeDocuments(there, step.document, identity);
    }
  }
  checkConflicts(out);
  return out;
}

function mergeDocuments(left: ConfigDocument, right: ConfigDocument, identity: string): ConfigDocument {
  try {
    return { ...left, members: merge(left.shape.type, left.members, right.members) as ConfigMap };
  } catch (error) {
    throw error instanceof ConfigError ? error.at({ document: identity }) : error;
  }
}
