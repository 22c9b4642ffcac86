import { compareContracts } from "../../versions/contract.ts";
import { emitYamlDocuments } from "../yaml/emit.ts";
import { checkInput } from "./check-input.ts";
import { documentsAfterV1alpha1 } from "./documents.ts";
import type { MachineConfigInput } from "./input.ts";
import { v1alpha1Document } from "./v1alpha1.ts";

/**
 * The machine config of one role, byte for byte as `talosctl gen config --with-docs=false --with-examples=false` of the contract's Talos
 * writes it. The same input always gives the same text.
 *
 * @throws ConfigError `INVALID_INPUT`, `INVALID_VERSION`
 * @see siderolabs/talos `pkg/machinery/config/generate`
 */
export function generateMachineConfig(input: MachineConfigInput): string {
  const endpoint = checkInput(input);
  const documents = [v1alpha1Document(input, endpoint), ...documentsAfterV1alpha1(input, endpoint)];
  return emitYamlDocuments(documents, { oldBooleanQuotes: compareContracts(input.contract, "1.14") >= 0 ? "single" : "double" });
}
