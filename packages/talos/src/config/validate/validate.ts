import type { Contract } from "../../versions/contract.ts";
import { generationOf, loadConfig } from "../patch/patch.ts";
import { checkAgainstV1alpha1, checkEachDocument, checkTogether } from "./documents.ts";
import { checkV1alpha1 } from "./v1alpha1.ts";

/** Where the machine runs: `metal` installs itself, `container` has no disks, `cloud` is a machine image that is installed already. */
export type RuntimeMode = "metal" | "cloud" | "container";

export interface ValidateOptions {
  readonly mode: RuntimeMode;
  /** Turns warnings into errors. Default false. */
  readonly strict?: boolean;
  /** Rules of this contract's Talos; default: the newest that is known. */
  readonly contract?: Contract;
}

/** What a node would say of a config. */
export interface Validation {
  /** Empty when a node would take the config. Those of the v1alpha1 document come first. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** The errors as talosctl prints them; `undefined` when there are none. */
  readonly report: string | undefined;
}

/**
 * Checks a config by the rules of Talos that keep a first cluster from failing: identity and keys per role, install target, endpoint, network
 * plugin, discovery, container mode, and documents that say the same twice. Rules about bonds, VLANs, WireGuard, disk encryption, labels and
 * kubelet settings are not among them yet: the node still checks those.
 *
 * @throws ConfigError when the config cannot be read at all
 * @see siderolabs/talos `pkg/machinery/config/types/v1alpha1/v1alpha1_validation.go`
 */
export function validateMachineConfig(text: string, { mode, strict = false, contract }: ValidateOptions): Validation {
  const generation = generationOf(contract);
  const all = loadConfig(text, generation);
  const v1alpha1 = all.find(({ shape }) => shape.kind === "v1alpha1")?.members;
  const documents = all.filter(({ shape }) => shape.kind !== "v1alpha1");
  const own = v1alpha1 === undefined ? { errors: [], warnings: [] } : checkV1alpha1(v1alpha1, mode, generation);
  const ownErrors = [...own.errors, ...(strict ? own.warnings.map((warning) => `warning: ${warning}`) : [])];
  const others = [
    ...checkEachDocument(documents),
    ...(v1alpha1 === undefined ? [] : checkAgainstV1alpha1(documents, v1alpha1)),
    ...(generation === "1.13" ? [] : checkTogether(documents, v1alpha1, mode)),
  ];
  const reported = [...(ownErrors.length === 0 ? [] : [`v1alpha1.Config: ${listOf(ownErrors)}`]), ...others];
  return {
    errors: [...ownErrors, ...others],
    warnings: strict ? [] : own.warnings,
    report: reported.length === 0 ? undefined : listOf(reported),
  };
}

function listOf(errors: readonly string[]): string {
  return `${errors.length} error${errors.length === 1 ? "" : "s"} occurred:\n${errors.map((error) => `\t* ${error}\n`).join("")}\n`;
}
