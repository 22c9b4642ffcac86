import { deleteNodeObject } from "../workload/node-objects.ts";
import { formerNodeOwner, isFormerName } from "../assess/node-owners.ts";
import { nodeType } from "../workload/kinds.ts";
import type { NodeObject } from "../workload/kinds.ts";
import { seenNode } from "../workload/seen-node.ts";
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
    /** The Node object of a machine that is no part of the cluster any more, or has the Node `renamedTo` by now. */
    DeleteNode: { readonly machine: MachineName; readonly node: string; readonly renamedTo?: string };
  }
}

const retry = { word: "DeleteNode", refusals: [], pauseMs: tendAgainMs } as const;

/** Deletes the Node object of a machine that was released, or has another one; read live, and only while no kubelet keeps it. */
export const deleteNode = defineEffect("DeleteNode", {
  inventory: "WL1",
  at: "workload",
  machine: ({ machine }) => machine,
  disrupts: "nothing",
  goesTogether: true,
  retry,
  before: { unpaused },
  async carryOut({ action: { machine, node, renamedTo }, effects }) {
    await tend(rememberedAs({ retry }, machine), effects, async (workload) => {
      const wasDeleted = await workload.use({ kind: "nodes" }, placeOf(effects), async (client, timeoutMs) => {
        const live: ClusterFacts[] = [];
        const leftMs = await effects.guard.check((facts) => live.push(facts) > 0);
        const options = { timeoutMs: Math.min(timeoutMs, leftMs), signal: effects.signal };
        const own = renamedTo === undefined ? undefined : await client.resource<NodeObject>(nodeType).tryGet({ name: renamedTo }, options);
        const isItsNode = (seen: SeenNode): boolean =>
          live.every((facts) =>
            renamedTo === undefined
              ? formerNodeOwner(facts, seen)?.name === machine
              : own !== undefined && isFormerName(facts, machine, seen, seenNode(own)),
          );
        return deleteNodeObject(client, node, isItsNode, options);
      });
      workload.released(machine, node);
      const why =
        renamedTo === undefined ? `Deleted the Node ${node} of ${machine}, which is released.` : leftWords(machine, node, renamedTo);
      if (wasDeleted) effects.event("Reconciling", "DeleteNode", why);
    });
  },
  step: ({ machine, node, renamedTo }) =>
    renamedTo === undefined
      ? onMachine("drains", machine, (named) => `Delete the Node of ${named}.`)
      : onMachine("drains", machine, (named) => `Delete the Nodes of earlier names: ${named}.`, `${node} of ${machine}`),
  afterwards: (seen, { node }) => withNodes(seen, (nodes) => nodes.filter((one) => one.name !== node)),
});

function leftWords(machine: MachineName, node: string, renamedTo: string): string {
  return `Deleted Node ${node}: ${machine} has Node ${renamedTo} since its host name changed.`;
}
