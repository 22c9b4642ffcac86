import { isEffectError } from "../errors.ts";
import { isRefusedWrite } from "../controllers/shared/refused-write.ts";
import { poolNote } from "../procedures/compose/pool-notes.ts";
import type { Effects } from "./ports.ts";

/** What could not be done for a worker pool, and concerns nothing else: it is noted, and the cluster goes on. */
export class PoolFailure extends Error {
  override readonly name = "PoolFailure";
}

/**
 * Writes something for a worker pool, as long as the pool wants it. What the API server refuses, a quota or an admission rule, and what the pool says by now is
 * noted for the pool: its machines wait, and the others are not held up by that.
 *
 * @throws PoolFailure
 */
export async function forPool(pool: string, effects: Effects, write: () => Promise<void>): Promise<void> {
  const { session, seen } = effects;
  try {
    await effects.demandPool(pool);
    await write();
  } catch (thrown) {
    const isRefused = isRefusedWrite(thrown);
    if (!isRefused && !isEffectError(thrown, "MODE_CHANGED", "PRECONDITION_GONE")) throw thrown;
    session.noteSent(poolNote(pool), isRefused ? "refused" : "unknown", thrown.message);
    throw new PoolFailure(thrown.message, { cause: thrown });
  }
  const before = session.sent().get(poolNote(pool));
  // What others of this pass were refused stays noted.
  if (before !== undefined && before.at < seen.now) session.forgetSent(poolNote(pool));
}
