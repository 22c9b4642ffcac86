import { printDocuments } from "./document/print.ts";
import { generationOf, loadConfig, type PatchOptions } from "./patch/patch.ts";

/**
 * A config as Talos prints it: fields in their order, empty ones left out, without comments. Printing it again gives the same bytes.
 *
 * @throws ConfigError with document, path, line and column
 */
export function canonicalMachineConfig(text: string, { contract }: PatchOptions = {}): string {
  const generation = generationOf(contract);
  return printDocuments(loadConfig(text, generation), generation);
}
