import { releaseOf, whyHeld } from "../../disruption/slot-words.ts";
import type { SlotHolder } from "../../disruption/control-plane-slot.ts";
import { waits } from "./removal.ts";
import type { MachineFact } from "../../model/record.ts";
import type { Removal } from "../../model/plans.ts";

/** What is said of a control plane that must not be reset now. */
export function resetHeld(fact: MachineFact, holder: SlotHolder): Removal {
  const { name } = fact;
  switch (holder.kind) {
    case "takeover":
      return waits(fact, "WaitingForTurn", `${name} leaves; ${whyHeld(holder)}.`);
    case "effect":
      return waits(fact, "WaitingForTurn", `${name} leaves after ${holder.machine} is done (${holder.what}).`);
    case "before-risk":
      return waits(fact, "WaitingForSnapshot", `${name} leaves later. ${releaseOf(holder)}`);
    case "snapshot":
    case "drain":
      return waits(fact, "WaitingForTurn", `${name} leaves later: ${whyHeld(holder)}. ${releaseOf(holder)}`);
    case "founding":
      return waits(fact, "WaitingForQuorum", `${name} leaves once it is known that it holds no etcd data: ${whyHeld(holder)}.`);
    case "etcd":
      return waits(
        fact,
        "WaitingForQuorum",
        `${name} leaves once ${holder.isSettling ? "etcd is settled" : "etcd's members agree"}: ${whyHeld(holder)}.`,
      );
    case "unreported":
      return waits(fact, "WaitingForQuorum", `${whyHeld(holder)}; it is looked at again.`);
    case "quorum":
      return waits(
        fact,
        "WaitingForQuorum",
        `${name} stays, for etcd would lose its quorum without it: ${holder.projection.message}. ${releaseOf(holder)}`,
      );
  }
}

/** What is said of a machine whose member must not be removed from etcd now. */
export function memberHeld(fact: MachineFact, holder: SlotHolder): Removal {
  const { name } = fact;
  switch (holder.kind) {
    case "takeover":
      return waits(fact, "WaitingForTurn", `The member of ${name} is removed soon; this operator just took over.`);
    case "effect":
    case "before-risk":
      return waits(fact, "WaitingForTurn", `The member of ${name} is removed later. ${releaseOf(holder)}`);
    case "snapshot":
    case "drain":
      return waits(fact, "WaitingForTurn", `The member of ${name} is removed later: ${whyHeld(holder)}. ${releaseOf(holder)}`);
    case "quorum":
      return waits(fact, "WaitingForQuorum", `The member of ${name} stays listed: ${holder.projection.message}.`);
    case "etcd":
    case "founding":
    case "unreported":
      return waits(fact, "WaitingForQuorum", `The member of ${name} is removed once etcd's other members agree: ${whyHeld(holder)}.`);
  }
}
