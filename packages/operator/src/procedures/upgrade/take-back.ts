import { readyToDisturb } from "../../disruption/drain.ts";
import { isPodTaken } from "../../disruption/other-node.ts";
import { poolBudgets } from "../../disruption/pool-budget.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { outageOf } from "./outage.ts";
import { notBack } from "./not-back.ts";
import { WELL_WITHIN_MS } from "./times.ts";
import { whatElseIsOpen } from "./what-else-is-open.ts";
import { slotFor } from "./slot-for.ts";
import { countOf } from "../../report/listed.ts";
import type { Action } from "../../model/effect.ts";
import type { AssessedMachine, Assessment } from "../../model/assessment.ts";
import type { UpgradeStep } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** Takes back what was installed and not booted: its next boot would start what nobody asks for. */
export function takeBack(assessed: Assessment, facts: ClusterFacts, machine: AssessedMachine): UpgradeStep {
  const { seen } = assessed;
  const { name, role, address } = machine.declared;
  const { version = "", schematic, before = "", bootId = "" } = machine.fact?.installed ?? {};
  const says = `Talos ${version} is installed on ${name} and not asked for any more: it is taken back, for which ${name} boots what it runs.`;
  const step = (why: string, actions: readonly Action[] = []): UpgradeStep => ({
    facts,
    actions,
    kind: "running",
    reason: "Upgrading",
    says: why === "" ? says : `${says} ${why[0]?.toUpperCase() ?? ""}${why.slice(1)}.`,
  });
  const held = whatElseIsOpen(assessed, facts);
  if (held !== undefined) return step(held.replace(/\.$/, ""));
  const away = role === "controlplane" ? notBack(assessed, name) : undefined;
  if (away !== undefined) return step(`${away.declared.name} is not ready, and comes back first`);
  const place = role === "worker" ? poolBudgets(assessed).placeFor(machine, "upgrade") : undefined;
  if (place?.kind === "none") return step(`${place.count} of at most ${countOf(place.limit, "machine")} of its pool are down`);
  const outage = outageOf(assessed, machine);
  if (outage.kind === "unapproved") return { ...step(outage.why), kind: "stopped", reason: "ApprovalRequired" };
  const slot = slotFor(assessed, facts, { machine, name });
  if (slot?.kind === "hold") return step(slot.why, slot.actions);
  const drain = isPodTaken(assessed, name) ? readyToDisturb(assessed, name, true) : ({ kind: "ready" } as const);
  if (drain.kind !== "ready") return step(drain.message.replace(/\.$/, ""), drain.kind === "act" ? drain.actions : []);
  const intent: UpgradeIntent = {
    machine: name,
    address,
    uuid: machine.fact?.uuid ?? "",
    role,
    at: seen.now,
    talosVersion: version,
    talosBefore: before,
    ...(schematic === undefined ? {} : { talosSchematic: schematic }),
    what: "Reboot",
    deadline: seen.now + (seen.upgradeWithinMs ?? WELL_WITHIN_MS),
    bootIdBefore: bootId,
    rollsBackFrom: bootId,
    why: `Talos ${version} was installed and is not asked for any more.`,
  };
  const draft = new FactsDraft(facts);
  draft.open(intent);
  if (outage.kind === "announced")
    draft.decide({ at: seen.now, action: "Announce", reason: "Outage", machine: name, message: outage.says });
  draft.decide({ at: seen.now, action: "Reboot", reason: "Withdrawn", machine: name, message: intent.why });
  return { ...step(""), facts: draft.facts() };
}
