import { uncordon as takeOff } from "../workload/cordon.ts";
import { withoutCordon } from "../planning/afterwards-nodes.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { defineEffect, recordHolds, rememberedAs } from "./define.ts";
import { unpaused } from "./demand-unpaused.ts";
import { placeOf, tend, tendAgainMs } from "./tend-nodes.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Takes our own cordon off; one of a person stays. */
    Uncordon: { readonly machine: MachineName; readonly node: string; readonly address: string; readonly ifUuid: string };
  }
}

const retry = { word: "Uncordon", refusals: [], pauseMs: tendAgainMs } as const;

/** Takes our cordon off a machine that is ready again and that nothing is about to happen to. */
export const uncordon = defineEffect("Uncordon", {
  inventory: "WL1",
  at: "workload",
  machine: ({ machine }) => machine,
  disrupts: "nothing",
  goesTogether: true,
  retry,
  before: { unpaused },
  record: { noIntent: (facts, { machine }) => intentOn(facts, machine) === undefined },
  async carryOut({ action, effects }, { record }) {
    const { machine, node, address, ifUuid } = action;
    await tend(rememberedAs({ retry }, machine), effects, async (workload) => {
      const outcome = await workload.use({ kind: "node", name: node }, placeOf(effects), async (client, timeoutMs) => {
        const leftMs = await effects.guard.check((facts) => recordHolds(record, facts, action));
        return takeOff(client, node, { uuid: ifUuid, address }, { timeoutMs: Math.min(timeoutMs, leftMs), signal: effects.signal });
      });
      workload.released(machine, node);
      effects.log.info({ action: "Uncordon", machine, node, reason: outcome }, "Took the cordon off");
    });
  },
  step: ({ machine }) => onMachine("drains", machine, (named) => `Uncordon: ${named}.`),
  afterwards: (seen, { machine, node }) => withoutCordon(seen, machine, node),
});
