import { annotations } from "@talos-operator/api";
import { isConfirmed, isCounted, isEmptied } from "../remove/emptied-pool.ts";
import { leaversOf, poolOf } from "../remove/removal.ts";
import { factsOf } from "../../record/facts.ts";
import type { Observed } from "../../model/observation.ts";
import type { Verdict } from "../../model/plans.ts";

/** Takes the word off by which the machines of an emptied pool are wiped, once none is left, or once the pool lists machines: it would act on a later slip. */
export function confirmedReset(seen: Observed): Verdict | undefined {
  const facts = factsOf(seen);
  if (facts === undefined) return undefined;
  const leaving = leaversOf(seen, facts, "worker").map(({ machine }) => poolOf(seen, machine));
  const done = seen.workers.find(
    (pool) =>
      isConfirmed(pool) &&
      pool.metadata.deletionTimestamp === undefined &&
      !isCounted(pool) &&
      !(isEmptied(pool) && leaving.includes(pool)),
  );
  if (done === undefined) return undefined;
  const { name } = done.metadata;
  const words = isEmptied(done) ? `No machine of ${name} is left` : `${name} lists machines, and nothing of it was wiped`;
  const answer = `${words}; ${annotations.confirmReset} acts once and is removed.`;
  return { actions: [{ kind: "AnswerAnnotation", annotation: annotations.confirmReset, value: name, answer, pool: name }] };
}
