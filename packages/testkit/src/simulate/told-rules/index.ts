import { blameRules } from "./blame.ts";
import { columnRules } from "./columns.ts";
import { etcdRules } from "./etcd.ts";
import { machineRules } from "./machines.ts";
import { noteRules } from "./notes.ts";
import { readyRules } from "./ready.ts";
import type { ToldRule } from "./rule.ts";
import { tellAll, type ToldInput } from "./told.ts";
import { versionRules } from "./versions.ts";

/** All of them, in the order in which they are judged. */
const toldRules: readonly ToldRule[] = [
  ...columnRules,
  ...versionRules,
  ...readyRules,
  ...machineRules,
  ...etcdRules,
  ...blameRules,
  ...noteRules,
];

/** A word that is not true: the rule, the facts, and what stays the same while it is not. */
export type ToldReport = (rule: string, detail: string, key: string) => void;

/** What the operator says of a cluster, compared with the machines themselves. */
export interface ToldRules {
  /** Compares everything now. What is broken at two looks counts as broken between them. */
  look(): void;
  /** From now on, or from so much later on, the operator gets the whole tolerance again: something kept it from looking, or from telling. */
  disturbed(laterMs?: number): void;
}

/**
 * W1 to W20: no object says of a machine, pool or cluster what is not so, for longer than the tolerance of the rule. They read reasons, typed fields, numbers and
 * names of machines, never sentences.
 *
 * @param now virtual milliseconds of a clock that never leaps
 */
export function createToldRules(
  input: ToldInput,
  now: () => number,
  report: ToldReport,
  rules: readonly ToldRule[] = toldRules,
): ToldRules {
  let since = new Map<string, number>();
  let restsSince = now();
  return {
    look() {
      const told = tellAll(input);
      const at = now();
      const still = new Map<string, number>();
      for (const rule of rules)
        rule.judge(told, (key, detail) => {
          const id = `${rule.id} ${key}`;
          const from = since.get(id) ?? at;
          still.set(id, from);
          const lasts = at - Math.max(from, restsSince);
          if (lasts >= rule.toleranceMs) report(rule.id, `${detail()} (for ${Math.round(lasts / 1000)} s)`, key);
        });
      since = still;
    },
    disturbed(laterMs = 0) {
      restsSince = Math.max(restsSince, now() + laterMs);
    },
  };
}
