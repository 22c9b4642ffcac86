import { deleteNodeObject } from "../workload/node-objects.ts";
import { formerNodeOwner } from "../assess/node-owners.ts";
import { withNodes } from "../planning/afterwards-nodes.ts";
import { onMachine } from "../planning/step-of.ts";
import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { SeenNode } from "../model/workload.ts";
import { defineEffect, rememberedAs } from "./define.ts";
import { unpaused } from "./demand-unpaused.ts";
import { placeOf, tend, tendAgainMs } from "./tend-nodes.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** The Node object of a machine that is no part of the cluster any more. */
    DeleteNode: { readonly machine: MachineName; readonly node: string };
  }
}

const retry = { word: "DeleteNode", refusals: [], pauseMs: tendAgainMs } as const;

/** Deletes the Node object of a machine that was released; read live, and only while no kubelet keeps it. */
export const deleteNode = defineEffect("DeleteNode", {
  inventory: "WL1",
  at: "workload",
  machine: ({ machine }) => machine,
  disrupts: "nothing",
  goesTogether: true,
  retry,
  before: { unpaused },
  async carryOut({ action: { machine, node }, effects }) {
    await tend(rememberedAs({ retry }, machine), effects, async (workload) => {
      const wasDeleted = await workload.use({ kind: "nodes" }, placeOf(effects), async (client, timeoutMs) => {
        const live: ClusterFacts[] = [];
        const leftMs = await effects.guard.check((facts) => live.push(facts) > 0);
        const isItsNode = (seen: SeenNode): boolean => live.every((facts) => formerNodeOwner(facts, seen)?.name === machine);
        return deleteNodeObject(client, node, isItsNode, { timeoutMs: Math.min(timeoutMs, leftMs), signal: effects.signal });
      });
      workload.released(machine, node);
      if (wasDeleted)
        effects.event(effects.seen.controlPlane, "Reconciling", "DeleteNode", `Deleted the Node ${node} of ${machine}, which is released.`);
    });
  },
  step: ({ machine }) => onMachine("drains", machine, (named) => `Delete the Node of ${named}.`),
  afterwards: (seen, { node }) => withNodes(seen, (nodes) => nodes.filter((one) => one.name !== node)),
});
