import type { ConfigChange, ConfigEffect } from "./effect.ts";

/** The class of a part of a config, and of everything below it that has no rule of its own. */
export interface EffectRule {
  /** Path in the schema without indices; members of maps are `*`; empty for the whole document. */
  readonly path: string;
  readonly effect: ConfigEffect;
  readonly services: readonly string[];
  readonly reason: string;
  /** Another effect where the part only came or went. */
  readonly when: Partial<Record<ConfigChange["change"], ConfigEffect>>;
}

/** A rule that names no service. */
export function rule(
  path: string,
  effect: Exclude<ConfigEffect, "restarts-service">,
  reason: string,
  when: EffectRule["when"] = {},
): EffectRule {
  return { path, effect, services: [], reason, when };
}

/** A rule whose services restart. */
export function restarts(path: string, services: readonly string[], reason: string): EffectRule {
  return { path, effect: "restarts-service", services, reason, when: {} };
}

/** The rule with the longest path that holds `path`; `undefined` when none does. */
export function findRule(rules: readonly EffectRule[], path: string): EffectRule | undefined {
  let best: EffectRule | undefined;
  for (const candidate of rules) {
    if (holds(candidate.path, path) && (best === undefined || candidate.path.length > best.path.length)) best = candidate;
  }
  return best;
}

function holds(rule: string, path: string): boolean {
  if (rule === "" || rule === path) return true;
  const wanted = rule.split(".");
  const steps = path.split(".");
  return wanted.length <= steps.length && wanted.every((step, index) => step === "*" || step === steps[index]);
}
