import { withNodes } from "../planning/afterwards-nodes.ts";
import { defineEffect } from "./define.ts";
import { placeOf, workloadOf } from "./tend-nodes.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    LookAtNodes: object;
  }
}

/** Lists the cluster's Nodes beside the passes. */
export const lookAtNodes = defineEffect("LookAtNodes", {
  inventory: "WL1",
  at: "workload",
  disrupts: "nothing",
  carryOut: ({ effects }) => workloadOf(effects).lookAtNodes(placeOf(effects), effects.log),
  step: () => undefined,
  afterwards: (seen) => withNodes(seen, (nodes) => nodes),
});
