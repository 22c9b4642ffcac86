import type { Action } from "../../model/effect.ts";
import type { Rule } from "../../model/decision.ts";

/** While a member is being removed: the list shows its end in the next look. */
const SOON_MS = 2_000;

/** Removes members of etcd that belong to no machine of the cluster. */
export const removeStrays: Rule = {
  name: "removeStrays",
  decide({ seen, facts, straying }) {
    if (seen.record.kind !== "present" || straying === undefined) return undefined;
    if (straying.facts === facts && straying.actions.length === 0) return undefined;
    const { resourceVersion } = seen.record.value;
    const written: readonly Action[] =
      straying.facts === facts
        ? []
        : [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: straying.facts, why: "StrayMember" }];
    return { actions: [...written, ...straying.actions], requeueAfterMs: SOON_MS };
  },
};
