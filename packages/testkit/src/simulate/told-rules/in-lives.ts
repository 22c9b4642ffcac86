import type { Stage } from "../stage.ts";
import type { ToldRules } from "./index.ts";

/** So often the rules are judged in a life. Milliseconds. */
const LOOK_EVERY_MS = 5_000;

/** A leader writes its lease more often than that: nobody led in between. Milliseconds. */
const LED_EVERY_MS = 6_000;

/** Longest that a status is put off after the one before it. Milliseconds. */
const NEXT_STATUS_MS = 8_000;

/** How a life judges what is told. */
export interface ToldInLives {
  /** An operator that leads wrote its lease: it is there, and gets at its API. */
  leads(): void;
  /** A fault, or a change of operators: whoever is there gets the whole tolerance again. */
  disturbed(): void;
  /** A write that nobody waits for any more took place, and may have taken back what was told since: that is put right with the next status. */
  cameLate(): void;
}

/**
 * Judges only while an operator leads, and never with a timer of its own: what a life does is the same with and without. What keeps every operator from seeing
 * or from telling gives it the whole tolerance again once it is over.
 */
export function toldInLives(rules: ToldRules, stage: Stage, now: () => number): ToldInLives {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let ledAt = Number.NEGATIVE_INFINITY;
  return {
    leads() {
      if (isBlind(stage)) return rules.disturbed();
      const at = now();
      if (at - ledAt > LED_EVERY_MS) rules.disturbed();
      ledAt = at;
      if (at - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = at;
      rules.look();
    },
    disturbed: () => rules.disturbed(),
    cameLate: () => rules.disturbed(NEXT_STATUS_MS),
  };
}

function isBlind(stage: Stage): boolean {
  const { kube, talos, watch } = stage.interference;
  return (
    kube !== undefined ||
    talos !== undefined ||
    watch !== undefined ||
    stage.unheard.size > 0 ||
    stage.areWatchesFrozen() ||
    stage.pausedSince !== undefined ||
    stage.newerRecordSince !== undefined ||
    stage.bundleGoneSince !== undefined
  );
}
