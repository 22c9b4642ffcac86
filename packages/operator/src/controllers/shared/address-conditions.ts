import { conditionFor } from "@talos-operator/api";
import { countOf } from "../../report/listed.ts";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import type { DeclaredMachine } from "../../model/machine.ts";

/** Machines named in one message. */
const MAX_NAMED = 10;

/** `AddressResolved` of a pool: only where an address is looked up, for a list of plain addresses there is nothing to say. */
export function addressConditions(declared: readonly DeclaredMachine[], generation: number | undefined): readonly ConditionInput[] {
  const lookedUp = declared.filter((machine) => machine.reference !== undefined);
  const [first] = lookedUp.filter((machine) => machine.problem !== undefined);
  if (lookedUp.length === 0) return [];
  if (first?.problem === undefined)
    return [conditionFor("AddressResolved", "Resolved", `${countOf(lookedUp.length, "machine")} found by reference.`, generation)];
  const stuck = lookedUp.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem.message}`]));
  const more = stuck.length - MAX_NAMED;
  const message = [...stuck.slice(0, MAX_NAMED), ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
  return [conditionFor("AddressResolved", addressReasonOf(first.problem.reason), message, generation)];
}

/** The reason under `AddressResolved` for one of an address that was found and is not to be used. */
export function addressReasonOf(reason: string): ReasonOf<"AddressResolved"> {
  return isAddressReason(reason) ? reason : "AddressRefused";
}

const addressReasons: ReadonlySet<string> = new Set<ReasonOf<"AddressResolved">>([
  "ReferenceInvalid",
  "ReferenceNotFound",
  "ReferenceForbidden",
  "ReferenceUnread",
  "AddressMissing",
  "AddressAmbiguous",
  "AddressNotUsable",
  "AddressRefused",
  "NameUnresolved",
]);

function isAddressReason(reason: string): reason is ReasonOf<"AddressResolved"> {
  return addressReasons.has(reason);
}
