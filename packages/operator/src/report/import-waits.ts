import { factsOf } from "../record/facts.ts";
import type { Observed } from "../model/observation.ts";

const IMPORT_WAITS = "The running cluster is not taken over yet; see the condition Imported.";

/** What conditions say of a cluster that runs and has no record yet: that it is new would be wrong. `undefined` = it is no import. */
export function importWaits(seen: Observed): { readonly reason: "ImportPending"; readonly message: string } | undefined {
  if (seen.adoption === undefined || factsOf(seen) !== undefined) return undefined;
  return { reason: "ImportPending", message: IMPORT_WAITS };
}
