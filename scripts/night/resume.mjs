// What of the last run still holds.

/**
 * Units that need not be planned again: those of the same commit, without the parts that are to begin anew.
 *
 * @param report of the last run, undefined when there was none
 */
export function unitsKept(report, { commit, parts, fresh }) {
  if (report?.commit !== commit) return [];
  return fresh ? report.units.filter(({ part }) => !parts.includes(part)) : report.units;
}

/** Units to play, in their order: what has no verdict yet. A canary that was missed stands before everything until it is noticed. */
export function unitsToPlay(units, parts) {
  return units.filter(
    ({ part, verdict }) => parts.includes(part) && (verdict === undefined || (part === "canary" && verdict !== "passed")),
  );
}

/** The commands that replay each failed life alone, as the simulation prints them. */
export function failedLives(printed) {
  return [...printed.matchAll(/ (?:VIOLATION|not reached) +(npm run simulate -- .+)$/gm)].map(([, command]) => command);
}

/** Lives that failed, each once: a unit whose run was killed is played again. */
export function livesKnown(known, lives) {
  return [...known, ...lives.filter(({ command }) => !known.some((one) => one.command === command))];
}
