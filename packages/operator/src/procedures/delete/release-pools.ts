import { finalizers } from "@talos-operator/api";
import { emptyPools } from "../compose/empty-pools.ts";
import { isLeftAlone } from "../compose/pool-notes.ts";
import type { Action } from "../../model/effect.ts";
import type { Rule } from "../../model/decision.ts";

/**
 * Lets worker pools go that are deleted and have no machine left. Whatever else the cluster waits for, this is over. A pool without a control plane is let go
 * by its own controller: there is no work item for it.
 */
export const releasePools: Rule = {
  name: "releasePools",
  decide({ seen }) {
    const actions = emptyPools(seen)
      .filter(({ metadata: { name, finalizers: own } }) => own?.includes(finalizers.talosWorker) === true && !isLeftAlone(seen, name))
      .map(({ metadata }): Action => ({ kind: "RemoveFinalizer", object: { kind: "TalosWorker", name: metadata.name } }));
    return actions.length === 0 ? undefined : { actions };
  },
};
