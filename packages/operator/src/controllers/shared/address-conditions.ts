import { conditionFor } from "@talos-operator/api";
import type { ConditionInput, ReadyReason, ReasonOf } from "@talos-operator/api";
import type { DeclaredMachine } from "../taloscontrolplane/model.ts";

/** Machines named in one message. */
const MAX_NAMED = 10;

/** `AddressResolved` of a pool: only where an address is looked up, for a list of plain addresses there is nothing to say. */
export function addressConditions(declared: readonly DeclaredMachine[], generation: number | undefined): readonly ConditionInput[] {
  const lookedUp = declared.filter((machine) => machine.reference !== undefined);
  const problems = lookedUp.flatMap((machine) => {
    const problem = addressProblemOf(machine);
    return problem === undefined ? [] : [{ name: machine.name, ...problem }];
  });
  const [first] = problems;
  if (lookedUp.length === 0) return [];
  if (first === undefined)
    return [conditionFor("AddressResolved", "Resolved", `${lookedUp.length} machine(s) are found by reference.`, generation)];
  const stuck = problems.map(({ name, message }) => `${name}: ${message}`);
  const more = stuck.length - MAX_NAMED;
  const message = [...stuck.slice(0, MAX_NAMED), ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
  return [conditionFor("AddressResolved", first.reason, message, generation)];
}

/**
 * What is wrong with the address of a machine, under a reason of `AddressResolved`; `undefined` where nothing is, and where what is wrong is something else: its
 * name, its config, what it says of itself.
 */
export function addressProblemOf(
  machine: DeclaredMachine,
): { readonly reason: ReasonOf<"AddressResolved">; readonly message: string } | undefined {
  const { problem, reference, isConfigUnknown } = machine;
  if (problem === undefined || notOfAddresses.has(problem.reason) || (reference === undefined && isConfigUnknown === true))
    return undefined;
  return { reason: isAddressReason(problem.reason) ? problem.reason : "AddressRefused", message: problem.message };
}

const notOfAddresses: ReadonlySet<string> = new Set<ReadyReason>(["InvalidConfig", "NameConflict", "ClusterMismatch"]);

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
