import type { RandomSource } from "@talos-operator/ports";
import type { EffectId } from "./effects.ts";

/**
 * What befalls one effect.
 *
 * C0 crash before the send; C1 crash after the effect, reply lost; C2 crash after the send, no effect; C3 crash after the reply, before anything else
 * is sent; D sent twice; R the reply comes late, after others; L the caller gives up, the effect happens later; E the call fails without effect;
 * X the effect happens and the caller sees a failure, without a crash.
 *
 * Of calls that a machine carries out under the call itself: M crash in the middle, B the connection breaks in the middle, without a crash. Every other
 * effect takes place in one moment, and has no middle.
 */
export type FaultClass = "C0" | "C1" | "C2" | "C3" | "M" | "B" | "D" | "R" | "L" | "E" | "X";

const CRASHES: readonly FaultClass[] = ["C0", "C1", "C2", "C3"];
const WITH_A_MIDDLE: ReadonlySet<EffectId> = new Set<EffectId>(["T4", "T10", "T12", "H2"]);

/** Crashes that an effect can meet. */
export function crashesOf(effect: EffectId): readonly FaultClass[] {
  return WITH_A_MIDDLE.has(effect) ? [...CRASHES, "M"] : CRASHES;
}

const NUISANCES: readonly FaultClass[] = ["D", "R", "L", "E", "X"];

/** One planned crash: the `occurrence`-th time that the effect is about to be sent in a run, counted from 0. */
export interface PlannedCrash {
  readonly effect: EffectId;
  readonly fault: FaultClass;
  readonly occurrence: number;
}

function nuisancesOf(effect: EffectId): readonly FaultClass[] {
  return WITH_A_MIDDLE.has(effect) ? [...NUISANCES, "B"] : NUISANCES;
}

export interface FaultPlan {
  /** Asked once for every effect, just before it would be sent. */
  next(effect: EffectId): FaultClass | undefined;
  /** From now on things go wrong; effects before are not counted. */
  begin(): void;
  /** Each of the next `count` effects but those on leases ends whoever sends it, one way or another. */
  crashAtEach(count: number): void;
  /** `crashAtEach` is not used up. */
  readonly isCrashing: boolean;
  /** From now on nothing goes wrong. */
  stop(): void;
  /** Every planned crash has happened. */
  readonly isSpent: boolean;
  readonly isStopped: boolean;
}

export interface FaultPlanOptions {
  readonly random: RandomSource;
  /** Crashes that this run must meet if their effect occurs often enough. */
  readonly crashes: readonly PlannedCrash[];
  /** Chance that an effect which no planned crash claims meets a nuisance. */
  readonly nuisanceRate: number;
  readonly onFault: (effect: EffectId, fault: FaultClass) => void;
}

export function createFaultPlan(options: FaultPlanOptions): FaultPlan {
  const seen = new Map<EffectId, number>();
  const open = [...options.crashes];
  let isBegun = false;
  let isStopped = false;
  let crashes = 0;
  return {
    begin() {
      isBegun = true;
    },
    next(effect) {
      if (!isBegun || isStopped) return undefined;
      const occurrence = seen.get(effect) ?? 0;
      seen.set(effect, occurrence + 1);
      const index = open.findIndex((crash) => crash.effect === effect && crash.occurrence <= occurrence);
      if (crashes > 0 && index < 0 && effect !== "K8") {
        crashes -= 1;
        const crash = pick(crashesOf(effect), options.random);
        options.onFault(effect, crash);
        return crash;
      }
      const planned = index < 0 ? undefined : open.splice(index, 1)[0]?.fault;
      const fault = planned ?? (options.random.fraction() < options.nuisanceRate ? pick(nuisancesOf(effect), options.random) : undefined);
      if (fault !== undefined) options.onFault(effect, fault);
      return fault;
    },
    crashAtEach(count) {
      crashes = count;
    },
    stop() {
      isStopped = true;
    },
    get isSpent() {
      return open.length === 0;
    },
    get isCrashing() {
      return crashes > 0 && !isStopped;
    },
    get isStopped() {
      return isStopped;
    },
  };
}

export function pick<T>(items: readonly T[], random: RandomSource): T {
  const item = items[Math.floor(random.fraction() * items.length)];
  if (item === undefined) throw new Error("cannot pick from nothing");
  return item;
}
