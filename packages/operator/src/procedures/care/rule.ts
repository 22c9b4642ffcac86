import { annotations } from "@talos-operator/api";
import { isCare, withCareEnded } from "./care-intents.ts";
import { isReplacement } from "./plan-replacement.ts";
import { answerDefragment, askedFor, nextFragmented } from "./fragmentation.ts";
import { begin } from "./plan-care.ts";
import { isReadyNode } from "../../assess/machine-state.ts";
import { controlPlaneIntent } from "../../record/facts.ts";
import type { Rule } from "../../model/decision.ts";
import type { Action } from "../../model/effect.ts";
import type { Verdict } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Assessment } from "../../model/assessment.ts";

/** While a member is asked for something: it shows its end in the next look. */
const SOON_MS = 2_000;

/** Lets go of what was begun on etcd once its end is seen, or the machine or the whole cluster goes: nothing waits for it then. */
export const releaseCare: Rule = {
  name: "releaseCare",
  decide(assessed) {
    const { facts } = assessed;
    const open = controlPlaneIntent(facts);
    if (facts === undefined) return undefined;
    const isGoing = assessed.seen.controlPlane.metadata.deletionTimestamp !== undefined;
    // A member that is replaced is let go by its own step, but for a cluster that goes: nobody takes that step then.
    const next = isCare(open)
      ? withCareEnded(assessed, facts, open)
      : isGoing && isReplacement(open)
        ? (assessed.care?.facts ?? facts)
        : facts;
    return next === facts ? undefined : verdictOf(assessed, facts, next, []);
  },
};

/** Frees the space of an etcd that is full, and goes on with what was begun on a member. */
export const careForEtcd: Rule = {
  name: "careForEtcd",
  decide(assessed) {
    const { facts, care } = assessed;
    if (facts === undefined || care === undefined) return undefined;
    return verdictOf(assessed, facts, care.facts, care.actions);
  },
};

/** Defragments a member that a person names, and one with more free pages than content: the least urgent of all, when nothing else is to be done. */
export const defragmentEtcd: Rule = {
  name: "defragmentEtcd",
  decide(assessed) {
    const { seen, facts, etcd: view } = assessed;
    if (facts?.bootstrapDone === undefined || view.kind === "unsafe" || controlPlaneIntent(facts) !== undefined) return undefined;
    // One that has just booted, to join anew after its data were wrong, is not back before its Node is Ready.
    if (seen.machines.some((machine) => machine.declared.role === "controlplane" && !isReadyNode(machine))) return undefined;
    const asked = askedFor(seen, view);
    if (asked?.kind === "pointless")
      return { actions: [answerDefragment(asked.value, `Nothing is defragmented as ${annotations.defragment} asked: ${asked.message}`)] };
    const next = asked === undefined ? nextFragmented(seen, facts, view) : { file: asked.file, why: "A person asked for it." };
    if (next === undefined) return undefined;
    const reason = asked === undefined ? "Fragmented" : "AskedByPerson";
    const step = begin(assessed, facts, "Defragment", next.file, { bids: "defragment", reason, why: next.why });
    if (step.facts === facts) return undefined;
    const answers =
      asked === undefined ? [] : [answerDefragment(asked.value, `${asked.value} is defragmented, as ${annotations.defragment} asked`)];
    return verdictOf(assessed, facts, step.facts, [...answers, ...step.actions]);
  },
};

function verdictOf({ seen }: Assessment, before: ClusterFacts, facts: ClusterFacts, actions: readonly Action[]): Verdict | undefined {
  if (seen.record.kind !== "present" || (facts === before && actions.length === 0)) return undefined;
  const { resourceVersion } = seen.record.value;
  const written: readonly Action[] =
    facts === before ? [] : [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts, why: "EtcdCare" }];
  return { actions: [...written, ...actions], requeueAfterMs: SOON_MS };
}
