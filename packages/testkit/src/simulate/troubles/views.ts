import { pick } from "../fault.ts";
import { CLUSTER_NAME } from "../scenario.ts";
import { forAWhile, type TroubleInput } from "./input.ts";

/** Reads of record and bundle are answered with 404 or 500 though they are there. */
export async function lieToReads({ kind, random, timers, trace, stage }: TroubleInput): Promise<void> {
  for (let n = 0; n < 6; n += 1) {
    await timers.sleep(Math.floor(random.fraction() * 40_000));
    const path = pick([`/secrets/${CLUSTER_NAME}-bundle-1`, `/clusterrecords/${CLUSTER_NAME}`], random);
    const status = pick([404, 500], random);
    trace(`trouble ${kind} ${status} for ${path}`);
    stage.answerReads(path, status, 1);
  }
}

/** Watches stand still for a while. */
export const freezeWatches = forAWhile(({ stage }) => {
  stage.freezeWatches();
  return () => stage.resumeWatches();
});
