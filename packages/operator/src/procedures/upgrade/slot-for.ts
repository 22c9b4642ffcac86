import { controlPlaneSlot } from "../../disruption/control-plane-slot.ts";
import { releaseOf, whyHeld } from "../../disruption/slot-words.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Candidate, Begun } from "./candidate.ts";

export function slotFor(
  assessed: Assessment,
  facts: ClusterFacts,
  { machine, name }: Pick<Candidate, "machine" | "name">,
): Begun | undefined {
  if (machine.declared.role === "worker") return undefined;
  const member = machine.look.kind === "running" ? machine.look.etcd?.localMember : undefined;
  const slot = controlPlaneSlot(assessed, facts, { machine: name, why: "upgrade", member });
  if (slot.kind === "granted") return undefined;
  const take = slot.holder.kind === "before-risk" ? slot.holder.snapshot.take : undefined;
  return {
    kind: "hold",
    why: `${whyHeld(slot.holder)}. ${releaseOf(slot.holder)}`.replace(/\.$/, ""),
    ...(take === undefined ? {} : { actions: [{ kind: "TakeSnapshot" as const, ...take }] }),
  };
}
