import { compareContracts, type Contract } from "../../versions/contract.ts";
import { checkConflicts } from "../document/conflicts.ts";
import { loadDocuments, type ConfigDocument } from "../document/load.ts";
import { printDocuments } from "../document/print.ts";
import { ConfigError } from "../errors.ts";
import type { Generation } from "../schema/notation.ts";
import type { ReadLimits } from "../yaml/read.ts";
import type { JsonOperation } from "./json-operations.ts";
import { applyJsonPatch, tryLoadJsonPatch } from "./json-patch.ts";
import { applyStrategicPatch, loadStrategicPatch, type StrategicStep } from "./strategic.ts";

/** Which Talos the result is for. */
export interface PatchOptions {
  /** Documents and rules of this contract's Talos; default: the newest that is known. */
  readonly contract?: Contract;
}

/** Patches are small: what is larger is refused before it is looked at. */
const patchLimits: ReadLimits = { maxBytes: 256 * 1024, maxDepth: 64, maxDocuments: 256 };
const maxPatchesBytes = 1024 * 1024;

/**
 * A config with patches applied in order. Each is a fragment of a config (strategic merge, with `$patch: delete`) or a list of RFC 6902
 * operations as JSON or YAML, which only configs of one document take.
 *
 * A config that is merged into is printed canonically, its comments are gone; after a JSON patch its keys are sorted. Without patches it comes
 * back as it was.
 *
 * @throws ConfigError with document, path, line and column; nothing is applied in part
 * @see siderolabs/talos `pkg/machinery/config/configpatcher`
 */
export function patchMachineConfig(config: string, patches: readonly string[], options: PatchOptions = {}): string {
  const generation = generationOf(options.contract);
  return applyPatches(config, loadPatches(patches, generation), generation);
}

/** A patch that was read and found well-formed. */
export type LoadedPatch =
  | { readonly kind: "strategic"; readonly steps: readonly StrategicStep[] }
  | { readonly kind: "json"; readonly operations: readonly JsonOperation[] };

/** Reads patches in the order in which Talos tries their forms: fragment of a config, JSON operations, YAML operations. */
function loadPatches(patches: readonly string[], generation: Generation): readonly LoadedPatch[] {
  const size = patches.reduce((sum, patch) => sum + Buffer.byteLength(patch), 0);
  if (size > maxPatchesBytes) throw new ConfigError("YAML_LIMIT", `the patches together are larger than ${maxPatchesBytes} bytes`);
  return patches.map((patch) => loadPatch(patch, generation));
}

/** Reads one patch. */
export function loadPatch(patch: string, generation: Generation): LoadedPatch {
  try {
    return { kind: "strategic", steps: loadStrategicPatch(patch, generation, patchLimits) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const operations = error.code === "YAML_LIMIT" ? undefined : tryLoadJsonPatch(patch, patchLimits);
    if (operations === undefined && patch.trimStart().startsWith("[")) {
      throw new ConfigError(
        "JSON_PATCH",
        "the list of operations is neither JSON nor YAML",
        { line: error.line, column: error.column },
        { cause: error },
      );
    }
    if (operations === undefined) throw error;
    return { kind: "json", operations };
  }
}

/** Applies patches that were read before. */
export function applyPatches(config: string, patches: readonly LoadedPatch[], generation: Generation): string {
  let text = config;
  let documents: readonly ConfigDocument[] | undefined;
  for (const patch of patches) {
    if (patch.kind === "json") {
      text = applyJsonPatch(documents === undefined ? text : printDocuments(documents, generation), patch.operations);
      documents = undefined;
    } else {
      documents = applyStrategicPatch(documents ?? loadConfig(text, generation), patch.steps);
    }
  }
  return documents === undefined ? text : printDocuments(documents, generation);
}

/**
 * All documents of a config, checked against each other.
 *
 * @throws ConfigError `MISSING_DOCUMENT` for a text without any
 */
export function loadConfig(text: string, generation: Generation): readonly ConfigDocument[] {
  const documents = loadDocuments(text, generation);
  if (documents.length === 0) throw new ConfigError("MISSING_DOCUMENT", "config not found");
  checkConflicts(documents);
  return documents;
}

/** The rules that hold for a contract. */
export function generationOf(contract: Contract | undefined): Generation {
  return contract === undefined || compareContracts(contract, "1.14") >= 0 ? "1.14" : "1.13";
}
