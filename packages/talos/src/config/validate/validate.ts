import type { Contract } from "../../versions/contract.ts";
import { generationOf, loadConfig } from "../patch/patch.ts";
import { checkConflictsWithV1alpha1 } from "./conflicts.ts";
import { checkDocument } from "./documents/rules.ts";
import { hazardsOf, type Hazard } from "./hazards/hazards.ts";
import { listOf, Report } from "./report.ts";
import type { RuleSet, RuntimeMode } from "./rule-set.ts";
import { checkTogether } from "./together.ts";
import { checkV1alpha1 } from "./v1alpha1/check.ts";

export type { RuntimeMode } from "./rule-set.ts";

/** By whose rules a config is judged. */
export interface ValidateOptions {
  readonly mode: RuntimeMode;
  /** Turns warnings of the v1alpha1 document into errors. Default false. */
  readonly strict?: boolean;
  /** Rules of this contract's Talos; default: the newest that is known. */
  readonly contract?: Contract;
  /** The address at which the machine is reached, for hazards: a firewall that lets in only addresses of the other family shuts out whoever calls it there. */
  readonly reachedAt?: string;
  /** Every address that the machine has, for hazards: services of a family that it has no address of keep kube-apiserver from starting. Default: not known. */
  readonly addresses?: readonly string[] | undefined;
}

/** What a node would say of a config. */
export interface Validation {
  /** Empty when a node would take the config. Those of the v1alpha1 document come first. They hold no keys: they may be shown to anybody. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** The errors as talosctl prints them; `undefined` when there are none. For whoever holds the config: Talos repeats keys that have the wrong length. */
  readonly report: string | undefined;
  /** What no node objects to and the user would rue. It changes no verdict: these findings are of this library, not of Talos. */
  readonly hazards: readonly Hazard[];
}

/**
 * Checks a config by the rules of Talos, as `talosctl validate` does: each document by itself, documents against the v1alpha1 document, and
 * all of them together. What only a running machine can know is not checked: whether a disk is there, whether the Kubernetes version fits.
 *
 * @throws ConfigError when the config cannot be read at all
 * @see siderolabs/talos `pkg/machinery/config/container`, `pkg/machinery/config/types`
 */
export function validateMachineConfig(text: string, { mode, strict = false, contract, reachedAt, addresses }: ValidateOptions): Validation {
  const rules: RuleSet = { mode, generation: generationOf(contract) };
  const all = loadConfig(text, rules.generation);
  const v1alpha1 = all.find(({ shape }) => shape.kind === "v1alpha1")?.members;
  const documents = all.filter(({ shape }) => shape.kind !== "v1alpha1");
  const own = new Report();
  if (v1alpha1 !== undefined) checkV1alpha1(v1alpha1, rules, own);
  const ownErrors = [...own.errors, ...(strict ? own.warnings.map((warning) => `warning: ${warning}`) : [])];
  const others = new Report();
  for (const document of documents) checkDocument(document, rules, others);
  if (v1alpha1 !== undefined) others.error(...checkConflictsWithV1alpha1(documents, v1alpha1, rules));
  if (rules.generation === "1.14") checkTogether(documents, v1alpha1, rules, others);
  const reported = [...(ownErrors.length === 0 ? [] : [`v1alpha1.Config: ${listOf(ownErrors)}`]), ...others.errors];
  return {
    errors: [...ownErrors, ...others.errors].map(withoutKeys),
    warnings: [...(strict ? [] : own.warnings), ...others.warnings],
    report: reported.length === 0 ? undefined : listOf(reported),
    hazards: hazardsOf({ mode, reachedAt, addresses, registersWithTaints: rules.generation === "1.14", v1alpha1, documents }),
  };
}

/** A key of the wrong length may be most of the right one. */
function withoutKeys(error: string): string {
  return error.replace(/(private key is invalid: wrong key )"(?:[^"\\]|\\.)*"/, '$1"(secret)"');
}
