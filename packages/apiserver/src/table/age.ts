/**
 * A span of time as kubectl prints ages: `45s`, `2m5s`, `3h10m`, `5d`, `2y30d`.
 *
 * @param seconds whole seconds; a negative one (a clock ahead of ours) prints as `<invalid>` below -1 s
 */
export function printAge(seconds: number): string {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return withRest(days, "d", hours % 24, "h");
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 365 * 8 ? withRest(years, "y", days % 365, "d") : `${years}y`;
}

function withRest(whole: number, unit: string, rest: number, smaller: string): string {
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${smaller}`;
}

/** Age of a timestamp text; `<unknown>` when there is none, `<invalid>` when it cannot be read. */
export function ageOf(timestamp: unknown, now: Date): string {
  if (timestamp === undefined || timestamp === null || timestamp === "") return "<unknown>";
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? "<invalid>" : printAge(Math.trunc((now.getTime() - at) / 1000));
}
