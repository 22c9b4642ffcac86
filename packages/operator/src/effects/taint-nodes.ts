import { putUpgradeTaint } from "../workload/upgrade-taint.ts";
import { UPGRADE_TAINT } from "../workload/seen-node.ts";
import { withNodes } from "../planning/afterwards-nodes.ts";
import { machineFact } from "../record/facts.ts";
import { openRun } from "../record/upgrades.ts";
import type { MachineName } from "../model/machine.ts";
import { defineEffect, recordHolds, rememberedAs } from "./define.ts";
import { allUnpaused } from "./demand-unpaused.ts";
import { placeOf, tend, taintAgainMs } from "./tend-nodes.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Lets pods that are evicted rather go to other Nodes than these, whose machines are still to be upgraded. */
    TaintNodes: {
      readonly nodes: readonly {
        readonly node: string;
        readonly machine: MachineName;
        readonly address: string;
        readonly ifUuid: string;
      }[];
    };
  }
}

const retry = { word: "TaintNodes", refusals: [], pauseMs: taintAgainMs } as const;

/** Puts the taint of upgrades on the Nodes of machines that are still to be upgraded, all in one go. */
export const taintNodes = defineEffect("TaintNodes", {
  inventory: "WL1",
  at: "workload",
  begins: ({ nodes }) => nodes.map(({ machine }) => machine),
  disrupts: "nothing",
  retry,
  before: { allUnpaused },
  record: {
    // What ends with a run begins with one.
    runIsOpen: (facts) => openRun(facts) !== undefined,
    sameMachines: (facts, { nodes }) =>
      nodes.every(({ machine, ifUuid }) => {
        const fact = machineFact(facts, machine);
        return fact?.uuid === ifUuid && fact.releasedAt === undefined;
      }),
  },
  async carryOut({ action, effects }, { record }) {
    await tend(rememberedAs({ retry }), effects, async (workload) => {
      const owners = action.nodes.map(({ node, address, ifUuid }) => ({ node, address, uuid: ifUuid }));
      await workload.use({ kind: "nodes" }, placeOf(effects), (client, timeoutMs) =>
        putUpgradeTaint(client, owners, async () => {
          const leftMs = await effects.guard.check((facts) => recordHolds(record, facts, action));
          return { timeoutMs: Math.min(timeoutMs, leftMs), signal: effects.signal };
        }),
      );
      const names = owners.map(({ node }) => node);
      workload.tainted(names, true);
      effects.log.info({ action: "TaintNodes", nodes: names }, "Pods that are evicted rather go to other Nodes than these");
    });
  },
  step: ({ nodes }) => ({
    effect: "drains",
    named: nodes.map(({ machine }) => machine).join(", "),
    says: (named) => `Taint the Nodes of ${named} with ${UPGRADE_TAINT}: evicted pods rather go to others.`,
  }),
  afterwards(seen, action) {
    const names = new Set(action.nodes.map(({ node }) => node));
    return withNodes(seen, (nodes) => nodes.map((one) => (names.has(one.name) ? { ...one, hasUpgradeTaint: true } : one)));
  },
});
