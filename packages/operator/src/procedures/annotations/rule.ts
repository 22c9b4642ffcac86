import { annotations } from "@talos-operator/api";
import { factsOf, intentOn, machineFact, withDecisions, withMachine } from "../../record/facts.ts";
import { wordFor } from "../../assess/identity.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { Verdict } from "../../model/plans.ts";
import { acceptedHazards } from "./accept-hazard.ts";
import { confirmedReset } from "./confirm-reset.ts";

/**
 * Takes a person's word off once it has acted, so that it never acts a second time on something that happens later.
 *
 * `adopt` has acted when the record belongs to the object; `approve-reprovision` when the machine it names is written down with the key it shows, or runs;
 * `accept-identity` when a machine is written down with the key it names, or, where one runs with other hardware than was written down and no UUID tells, when it
 * shows that very key: it is written down with its hardware then, and refused when it shows another key; `proceed-without-drain` when the effect on the machine it names stands in the
 * record; `confirm-reset` of a pool when no machine of it is left.
 */
export const answerAnnotations: Rule = {
  name: "answerAnnotations",
  decide(assessed) {
    const { seen } = assessed;
    return (
      adopted(seen) ??
      claimed(seen) ??
      vouched(seen) ??
      reprovisioned(seen) ??
      undrained(seen) ??
      confirmedReset(seen) ??
      acceptedHazards(assessed)
    );
  },
};

function adopted({ controlPlane, record }: Observed): Verdict | undefined {
  const value = controlPlane.metadata.annotations?.[annotations.adopt];
  if (value === undefined || record.kind !== "present") return undefined;
  const { clusterId, controlPlaneUid } = record.value.facts;
  if (value !== clusterId || controlPlaneUid !== controlPlane.metadata.uid) return undefined;
  const answer = `The cluster ${clusterId} belongs to this object, as ${annotations.adopt} said; the annotation acts once and is removed.`;
  return { actions: [{ kind: "AnswerAnnotation", annotation: annotations.adopt, value, answer }] };
}

/** A person's word about a container that was made anew with another hardware address: only for the very key that answers now. */
function claimed(seen: Observed): Verdict | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.acceptIdentity];
  if (value === undefined || seen.record.kind !== "present") return undefined;
  const claims = [...seen.machines, ...seen.former].flatMap(({ declared, look }) =>
    look.kind === "silent" && look.claimed !== undefined ? [{ name: declared.name, ...look.claimed }] : [],
  );
  if (claims.length === 0 || seen.machines.some(({ look }) => look.kind === "maintenance" && look.spki === value)) return undefined;
  const answer = (words: string): Verdict["actions"][number] => ({
    kind: "AnswerAnnotation",
    annotation: annotations.acceptIdentity,
    value,
    answer: `${words}; the annotation acts once and is removed.`,
  });
  const { facts, resourceVersion } = seen.record.value;
  const claim = claims.find(({ spki }) => spki === value);
  const fact = claim === undefined ? undefined : machineFact(facts, claim.name);
  if (claim === undefined || fact === undefined) {
    const shown = claims.map(({ name, spki }) => `${name} shows ${spki}`).join(", ");
    return {
      actions: [answer(`No machine was taken for another: ${annotations.acceptIdentity} names a key that none shows, and ${shown}`)],
    };
  }
  const next = withDecisions(withMachine(facts, { ...fact, macs: claim.macs, vouchedAt: seen.now }), {
    at: seen.now,
    action: "Accept",
    reason: "ApprovedByPerson",
    machine: claim.name,
    message: `Runs with this cluster's certificate and the hardware addresses ${claim.macs.join(", ")}, as a person said.`,
  });
  return {
    actions: [
      { kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "AcceptIdentity" },
      answer(`${claim.name} was taken in with its new hardware addresses, as ${annotations.acceptIdentity} said`),
    ],
  };
}

function vouched(seen: Observed): Verdict | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.acceptIdentity];
  if (value === undefined || seen.record.kind !== "present") return undefined;
  // A machine that runs shows another key than the one that it waited with.
  const shown = seen.machines.find(({ look }) => look.kind === "running" && look.spki === value)?.declared.name;
  const named = seen.record.value.facts.machines.find(
    (fact) => (fact.spki === value || fact.name === shown) && fact.vouchedAt !== undefined,
  );
  if (named === undefined) return undefined;
  const answer = `${named.name} was taken in with this key, as ${annotations.acceptIdentity} said; the annotation acts once and is removed.`;
  return { actions: [{ kind: "AnswerAnnotation", annotation: annotations.acceptIdentity, value, answer }] };
}

function reprovisioned(seen: Observed): Verdict | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.approveReprovision];
  if (value === undefined || seen.record.kind !== "present") return undefined;
  const named = seen.machines.find((machine) => nameOf(seen, machine) === value || machine.declared.name === value);
  if (named === undefined || !isAnswered(seen, named)) return undefined;
  const answer = `${named.declared.name} was taken in again, as ${annotations.approveReprovision} asked; the annotation acts once and is removed.`;
  return { actions: [{ kind: "AnswerAnnotation", annotation: annotations.approveReprovision, value, answer }] };
}

function undrained(seen: Observed): Verdict | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.proceedWithoutDrain];
  if (value === undefined || seen.record.kind !== "present") return undefined;
  const { facts } = seen.record.value;
  const named = facts.machines.find((fact) => wordFor(facts, fact.name, undefined) === value);
  if (named === undefined || (intentOn(facts, named.name) === undefined && named.releasedAt === undefined)) return undefined;
  const answer = `${named.name} is disturbed without a drain, as ${annotations.proceedWithoutDrain} said; the annotation acts once and is removed.`;
  return { actions: [{ kind: "AnswerAnnotation", annotation: annotations.proceedWithoutDrain, value, answer }] };
}

function isAnswered(seen: Observed, { declared, look }: SeenMachine): boolean {
  if (look.kind === "running") return true;
  const fact = seen.record.kind === "present" ? machineFact(seen.record.value.facts, declared.name) : undefined;
  return look.kind === "maintenance" && fact?.spki === look.spki;
}

/** How a person names this machine. */
function nameOf(seen: Observed, { declared, look }: SeenMachine): string {
  const facts = factsOf(seen);
  return wordFor(facts, declared.name, look.kind === "maintenance" ? look.uuid : undefined);
}
