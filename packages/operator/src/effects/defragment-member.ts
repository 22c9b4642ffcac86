import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { despiteFull } from "../assess/quorum.ts";
import { withEtcdOf, withFacts } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, intentOn, withoutIntent } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { noteNotAsked } from "./attempt.ts";
import { always, rememberedAs } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { leads, membersNow, ownMember, quorumWithout } from "./demand-quorum.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface DefragmentMember {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
  /** Only while its file is larger, in bytes: one that is not was defragmented already. */
  readonly ifLarger: number;
  /** Its turn has come although it leads. */
  readonly mayLead: boolean;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** A member gives the free pages of its file back, and answers nothing meanwhile. The intent stands in the record. */
    DefragmentMember: DefragmentMember;
  }
}

const refusals: readonly TalosErrorCode[] = ["PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];
const retry = { word: "Defragment", refusals, pauseMs: always(30_000) } as const;

/**
 * Has a member of etcd give the free pages of its file back.
 *
 * It goes on whether the caller is there or not, and a member that is asked twice does it twice: it is asked once under its intent, and what ends that is the size of
 * its file. So no answer is waited for longer than for any other effect.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/internal/server/v1alpha1/v1alpha1_etcd.go` EtcdDefragment
 */
export const defragmentMember = defineSend("DefragmentMember", {
  inventory: "T13",
  ...toMachine,
  disrupts: "etcd member",
  intent: "Defragment",
  retry,
  checks: {
    sameMachine,
    ownMember,
    ...quorumWithout<DefragmentMember>("is-down", ({ machine }) => ({ machine }), despiteFull),
    stillLarge: async (connected) => {
      const { answers } = await connected.ask(membersNow);
      const size = answers.find(({ machine }) => machine === connected.action.machine)?.etcd.dbSizeBytes;
      if (size === undefined || size <= connected.action.ifLarger)
        throw new EffectError(
          "PRECONDITION_GONE",
          `the file of ${connected.action.machine} is smaller by now, or its size is not reported`,
        );
    },
    leaderLast: async (connected) => {
      const { machine, mayLead } = connected.action;
      if (!mayLead && (await leads(connected))) throw new EffectError("PRECONDITION_GONE", `${machine} leads etcd by now, and is the last`);
    },
  },
  record: { uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "Defragment")?.uuid === ifUuid },
  doing: "Defragmenting etcd member",
  send: ({ client }, options) => client.etcdDefragment(options),
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "not-sent") noteNotAsked(rememberedAs({ retry }, machine), effects);
    if (ending.kind === "refused") effects.event("EtcdCareFailed", "DefragmentMember", `${machine} does not defragment: ${ending.words}`);
  },
  lastly: ({ action, effects }) => effects.session.machines.nudge(action.machine),
  step: ({ machine }) => onMachine("etcd care", machine, (named) => `Defragment etcd: ${named}.`),
  afterwards(seen, { machine }) {
    const facts = factsOf(seen);
    const after = withEtcdOf(seen, machine, (etcd) =>
      etcd.dbInUseBytes === undefined ? etcd : { ...etcd, dbSizeBytes: etcd.dbInUseBytes },
    );
    return facts === undefined ? after : withFacts(after, withoutIntent(facts, machine, "Defragment"));
  },
});
