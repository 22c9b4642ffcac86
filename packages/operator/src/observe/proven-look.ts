import { annotations } from "@talos-operator/api";
import { identityOf } from "../assess/identity.ts";
import { machineFact, mayHoldConfig } from "../record/facts.ts";
import type { Hardware, Look, Silent } from "../model/look.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";

/** The machines that are known, from the record or from what is left of it. */
type Machines = Pick<ClusterFacts, "machines">;

/** Whether hardware that a machine shows is what was written down: `unclear` = neither side tells enough. */
export type IdentityVerdict = "same" | "other" | "unclear";

/**
 * Compares what was written down about a machine with what one shows. A certificate of the cluster proves only that it is one of ours.
 *
 * A UUID decides where it belongs to one machine alone. Those that vendors ship by the thousand, and those of cloned machines, prove nothing: hardware
 * addresses decide then.
 */
export function compareIdentity(facts: Machines, fact: MachineFact, shown: Hardware | undefined): IdentityVerdict {
  if (shown === undefined) return "unclear";
  const hasBoth = fact.uuid !== "" && shown.uuid !== undefined;
  if (hasBoth && fact.uuid.toLowerCase() !== shown.uuid?.toLowerCase()) return "other";
  if (hasBoth && identityOf(facts, fact) === "own") return "same";
  if (fact.macs.length === 0 || shown.macs.length === 0) return "unclear";
  return fact.macs.some((mac) => shown.macs.includes(mac)) ? "same" : "other";
}

/**
 * The look at a machine as rules may believe it: what answers in the place of a machine that was written down, and is not it, says nothing about it.
 *
 * - Another of our machines at its address: the address moved. Nothing is known of this machine.
 * - The address changed in the spec or in the referenced object: what answers there must prove by certificate and hardware to be the machine, or wait in
 *   maintenance mode with the key that was written down. Only then is it taken for it.
 */
export function provenLook(facts: Machines | undefined, declared: DeclaredMachine, look: Look): Look {
  const fact = machineFact(facts, declared.name);
  if (facts === undefined || !mayHoldConfig(fact) || look.kind !== "running") return look;
  const verdict = compareIdentity(facts, fact, look.hardware);
  if (verdict === "same") return look;
  const hasMoved = fact.address !== declared.address;
  if (verdict === "unclear") {
    if (!hasMoved) return look;
    return unproven(
      look.at,
      `what answers at its new address ${declared.address} has this cluster's certificate. It does not prove that it is the machine of ${fact.address}: it reports no UUID and no hardware address. Nothing is sent to it. Give the machine its old address back, or remove the entry.`,
    );
  }
  const known = whoIs(facts, fact, look.hardware);
  const { hardware, spki } = look;
  if (known === undefined && !hasMoved && fact.uuid === "" && hardware !== undefined && hardware.uuid === undefined && spki !== undefined)
    return {
      ...unproven(
        look.at,
        `what answers at ${declared.address} has this cluster's certificate, and shows the hardware addresses ${hardware.macs.join(", ")} where ${fact.macs.join(", ")} were written down. It is a recreated container, or another machine. Nothing is sent to it. If it is ${declared.name}, annotate the TalosControlPlane with ${annotations.acceptIdentity}: ${spki}.`,
      ),
      claimed: { spki, macs: hardware.macs },
    };
  return unproven(
    look.at,
    `another machine answers at ${declared.address}: ${known === undefined ? `it has ${look.hardware?.uuid === undefined ? "no UUID" : `the UUID ${look.hardware.uuid}`}` : `it is ${known}`}, and ${fact.uuid || fact.macs.join(", ")} was written down. Nothing is sent to it. Give each machine its own address back${hasMoved ? "" : ", or correct the entry"}.`,
  );
}

/** The machine that shows this hardware, as far as the record knows it. */
function whoIs(facts: Machines, not: MachineFact, shown: Hardware | undefined): MachineName | undefined {
  return facts.machines.find(
    (other) => other.name !== not.name && other.releasedAt === undefined && compareIdentity(facts, other, shown) === "same",
  )?.name;
}

function unproven(at: number, message: string): Silent {
  return {
    kind: "silent",
    at,
    since: at,
    detail: "another machine answers at its address, or one that cannot prove which it is",
    stopped: { reason: "IdentityMismatch", message },
  };
}

/** The look at a machine whose address is not known: nobody can be asked. */
export function unaddressedLook(at: number): Silent {
  return { kind: "silent", at, since: at, detail: "its address is not known" };
}
