import { known, memberOf, withConfig, withEtcd } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, intentOn } from "../record/facts.ts";
import { isUpgrade } from "../record/upgrades.ts";
import type { MachineName } from "../model/machine.ts";
import type { IntentFact } from "../model/record.ts";
import { noteNotSent } from "./attempt.ts";
import { always, rememberedAs } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { leads, membersNow, ownMember, quorumWithout } from "./demand-quorum.ts";
import { nudgeMembers } from "./leave-etcd.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface ForfeitLeadership {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** The machine hands the leadership of etcd to another member. Only one whose wipe, or whose boot into another Talos, stands in the record. */
    ForfeitLeadership: ForfeitLeadership;
  }
}

/** It leaves, or boots another Talos. */
function mayHandOver(intent: IntentFact | undefined): boolean {
  return intent?.what === "Reset" || (isUpgrade(intent) && intent.what !== "InstallTalos");
}

const retry = { word: "ForfeitLeadership", refusals: [], pauseMs: always(2_000) } as const;

/** Has a leader that is about to leave hand over first, so that nobody waits for an election. Harmless to repeat; who leads next is seen in the next look. */
export const forfeitLeadership = defineSend("ForfeitLeadership", {
  inventory: "T6",
  ...toMachine,
  disrupts: "etcd member",
  intent: "Reset",
  retry,
  checks: {
    sameMachine,
    ownMember,
    ...quorumWithout<ForfeitLeadership>("leaves"),
    leads: async (connected) => {
      const { view } = await connected.ask(membersNow);
      if (view.kind === "unsafe" || (await leads(connected))) return undefined;
      connected.effects.session.noteSent(rememberedAs({ retry }, connected.action.machine), "unknown", "another member leads");
      return "not-now";
    },
  },
  record: { uuid: (facts, { machine, ifUuid }) => mayHandOver(intentOn(facts, machine)) && intentOn(facts, machine)?.uuid === ifUuid },
  doing: "Handing over etcd leadership",
  send: ({ client }, options) => client.etcdForfeitLeadership(options),
  taken: ({ action: { machine }, effects }) =>
    effects.tellStep(machine, "LeadershipHandedOver", `Handed the leadership of etcd over from ${machine}.`),
  // The next look shows who leads.
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "not-sent") noteNotSent(rememberedAs({ retry }, machine), ending, effects);
  },
  lastly: nudgeMembers,
  step: ({ machine }) => onMachine("membership", machine, (named) => `Forfeit leadership: ${named}.`),
  afterwards(seen, { machine }) {
    const after = withEtcd(seen, (etcd, members) => {
      const own = memberOf(seen, machine);
      return { ...etcd, leader: members.find(({ id, isLearner }) => id !== own && !isLearner)?.id ?? etcd.leader };
    });
    const intent = intentOn(factsOf(seen), machine);
    // What goes on under the intent goes by what is read after it.
    return isUpgrade(intent) ? withConfig(after, machine, { ...known(after, machine), at: intent.at + 1 }) : after;
  },
});
