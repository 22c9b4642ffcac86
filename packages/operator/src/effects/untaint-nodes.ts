import { takeUpgradeTaintOff } from "../workload/upgrade-taint.ts";
import { UPGRADE_TAINT } from "../workload/seen-node.ts";
import { withNodes } from "../planning/afterwards-nodes.ts";
import type { MachineName } from "../model/machine.ts";
import { defineEffect, rememberedAs } from "./define.ts";
import { allUnpaused } from "./demand-unpaused.ts";
import { placeOf, tend, taintAgainMs } from "./tend-nodes.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Takes the taint of upgrades off Nodes; a machine is absent where the Node is of none that is known. */
    UntaintNodes: { readonly nodes: readonly { readonly node: string; readonly machine?: MachineName }[] };
  }
}

const retry = { word: "UntaintNodes", refusals: [], pauseMs: taintAgainMs } as const;

/** Takes the taint of upgrades off Nodes whose machines are upgraded, or are not going to be. */
export const untaintNodes = defineEffect("UntaintNodes", {
  inventory: "WL1",
  at: "workload",
  begins: ({ nodes }) => nodes.flatMap(({ machine }) => machine ?? []),
  disrupts: "nothing",
  retry,
  before: { allUnpaused },
  async carryOut({ action, effects }) {
    await tend(rememberedAs({ retry }), effects, async (workload) => {
      const names = action.nodes.map(({ node }) => node);
      await workload.use({ kind: "nodes" }, placeOf(effects), (client, timeoutMs) =>
        takeUpgradeTaintOff(client, names, async () => {
          const leftMs = await effects.guard.check(() => true);
          return { timeoutMs: Math.min(timeoutMs, leftMs), signal: effects.signal };
        }),
      );
      workload.tainted(names, false);
      effects.log.info({ action: "UntaintNodes", nodes: names }, "Took the taint of upgrades off");
    });
  },
  step: ({ nodes }) => ({
    effect: "drains",
    named: nodes.map(({ machine, node }) => machine ?? node).join(", "),
    says: (named) => `Take the taint ${UPGRADE_TAINT} off the Nodes of ${named}.`,
  }),
  afterwards(seen, action) {
    const names = new Set(action.nodes.map(({ node }) => node));
    return withNodes(seen, (nodes) => nodes.map((one) => (names.has(one.name) ? { ...one, hasUpgradeTaint: false } : one)));
  },
});
