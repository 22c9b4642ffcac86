import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { always, defineEffect, recordHolds, rememberedAs } from "./define.ts";
import { unpaused } from "./demand-unpaused.ts";
import { placeOf, tend } from "./tend-nodes.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Moves this process off a machine that is about to boot: another one goes on under the intent. */
    EvictOperator: { readonly machine: MachineName; readonly node: string };
  }
}

const retry = { word: "EvictOperator", refusals: [], pauseMs: always(20_000) } as const;

/** Asks for the eviction of the pod that this process runs in. Never before what follows is written down: it ends whoever would go on. */
export const evictOperator = defineEffect("EvictOperator", {
  inventory: "WL1",
  at: "workload",
  machine: ({ machine }) => machine,
  disrupts: "nothing",
  goesTogether: true,
  retry,
  before: { unpaused },
  record: { boots: (facts, { machine }) => ["Reboot", "UpgradeTalos"].includes(intentOn(facts, machine)?.what ?? "") },
  async carryOut({ action, effects }, { record }) {
    const { machine, node } = action;
    await tend(rememberedAs({ retry }, machine), effects, async (workload) => {
      await workload.evictItself(node, placeOf(effects), () => effects.guard.check((facts) => recordHolds(record, facts, action)));
      effects.log.info({ action: "EvictOperator", machine, node }, "Asked for the eviction of this process");
    });
  },
  step: ({ machine }) => onMachine("drains", machine, (named) => `Move this operator off ${named}; another process goes on.`),
  afterwards: () => undefined,
});
