import { rfc3339 } from "@talos-operator/api";
import type { MarginHolder } from "./control-plane-margin.ts";
import type { SlotHolder } from "./control-plane-slot.ts";

/** What is in the way and what would release it, for the end of a sentence; without a full stop. */
export function heldWords(holder: SlotHolder | MarginHolder): string {
  return `${whyHeld(holder)}. ${releaseOf(holder).replace(/\.$/, "")}`;
}

/** What is in the way, for people; without a full stop. */
export function whyHeld(holder: SlotHolder | MarginHolder): string {
  switch (holder.kind) {
    case "takeover":
      return "this operator just took over, and effects of the one before may still take place";
    case "effect":
      return `${holder.machine} is in the middle of an effect (${holder.what})`;
    case "snapshot":
      return `a snapshot is being taken from ${holder.machine} (${holder.backup})`;
    case "before-risk":
      return `a snapshot of etcd is taken before ${holder.machine} ${holder.snapshot.before === "upgrade" ? "is upgraded" : "leaves"}`;
    case "drain":
      return `${holder.machine} is being drained`;
    case "founding":
      return "etcd is not bootstrapped yet";
    case "etcd":
      return holder.doubt.message;
    case "unreported":
      return `${holder.machine} does not report which member of etcd is its own`;
    case "quorum":
      return `without ${holder.machine} etcd would lose its quorum: ${holder.projection.message}`;
    case "margin":
      return holder.busy === undefined
        ? `${holder.healthy} of ${holder.voters} control planes are healthy, none more than needed: workers are left alone meanwhile`
        : `${holder.busy.machine} is in the middle of an effect (${holder.busy.what}): workers are left alone meanwhile`;
  }
}

/** What would release it: a sentence. */
export function releaseOf(holder: SlotHolder | MarginHolder): string {
  switch (holder.kind) {
    case "takeover":
      return "It goes on once nothing of an earlier leader can be under way any more.";
    case "effect":
      return `It goes on when ${holder.machine} shows how that ended.`;
    case "snapshot":
      return `It goes on when the snapshot has ended, at ${rfc3339(holder.until)} at the latest.`;
    case "before-risk":
      return holder.snapshot.message;
    case "drain":
      return `It goes on after ${holder.machine}.`;
    case "founding":
      return "It goes on when etcd is bootstrapped.";
    case "etcd":
      return "It goes on when etcd's members agree and none is joining.";
    case "unreported":
      return "It is looked at again.";
    case "quorum":
    case "margin":
      return "Bring back the control planes that are missing.";
  }
}
