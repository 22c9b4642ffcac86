import { ofBootstrapAndKeys } from "./of-bootstrap.ts";
import { ofEtcd } from "./of-etcd.ts";
import { ofMachines } from "./of-machines.ts";
import { passOf } from "./pass.ts";
import type { PassInvariant } from "./pass.ts";
import type { Assessment } from "../model/assessment.ts";
import type { BrokenInvariant } from "../model/decision.ts";
import type { Action } from "../model/effect.ts";

/**
 * What no pass may break, whatever rule decided it: kept on in production, where it is the last thing before something is sent, and told by the names that the
 * simulated lives give. They hold if every rule is right; they are here for the day on which one is not.
 *
 * S25, that a backup is complete only when what is stored is what etcd sent, is held where backups end (`talosetcdbackup`). The lease of S32 is read anew at
 * each send (`effects/guard.ts`).
 */
export const passInvariants: readonly PassInvariant[] = [...ofBootstrapAndKeys, ...ofEtcd, ...ofMachines];

/** The first invariant that these actions would break; `undefined` = none. Costs nothing for a pass that does nothing. */
export function brokenBy(assessed: Assessment, actions: readonly Action[]): BrokenInvariant | undefined {
  if (actions.length === 0) return undefined;
  const pass = passOf(assessed, actions);
  for (const invariant of passInvariants) {
    const { id, says } = invariant;
    const detail = invariant.broken(pass);
    if (detail !== undefined) return { id, says, detail };
  }
  return undefined;
}
