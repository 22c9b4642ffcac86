import { findingsMessage } from "@talos-operator/api";
import type { Rule } from "../model.ts";

/** A spec that cannot become a cluster, or that asks for something not built: said with field and remedy, and nothing is sent. */
export const refuseUnsafeSpec: Rule = {
  name: "refuseUnsafeSpec",
  decide(seen) {
    const [first] = seen.problems;
    return first === undefined ? undefined : { actions: [], waiting: { reason: first.reason, message: findingsMessage(seen.problems) } };
  },
};
