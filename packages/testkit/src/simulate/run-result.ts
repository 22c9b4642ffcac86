import type { EffectId } from "./effects.ts";
import type { FaultClass } from "./fault.ts";
import type { MachineEffects } from "./machine-effects.ts";
import type { Violation } from "./violation.ts";

/** How often an effect was sent, took effect, and met each class of fault. */
export type EffectCounts = { sent: number; tookEffect: number } & Record<FaultClass, number>;

export function emptyCounts(): EffectCounts {
  return { sent: 0, tookEffect: 0, C0: 0, C1: 0, C2: 0, C3: 0, M: 0, B: 0, D: 0, R: 0, L: 0, E: 0, X: 0 };
}

/** What one run showed. */
export interface RunResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly reachedGoal: boolean;
  readonly virtualMs: number;
  /** Passes of the brain that were observed as writes of a decision. */
  readonly decisions: number;
  readonly effects: ReadonlyMap<EffectId, EffectCounts>;
  readonly traceHash: string;
  readonly machineEffects: MachineEffects;
}
