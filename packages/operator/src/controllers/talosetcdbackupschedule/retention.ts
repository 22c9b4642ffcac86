/** A backup as retention sees it. */
export interface KeptBackup {
  readonly name: string;
  /** When it was due. Milliseconds since the epoch. */
  readonly at: number;
  readonly isProved: boolean;
  /** A run of it is open, or a person wants it to be kept: it is never deleted. */
  readonly isHeld: boolean;
}

/** What is kept; each rule on its own is enough. */
export interface RetentionRules {
  /** The newest ones, at least 1. */
  readonly count: number;
  /** The newest of each of so many days, weeks (from Monday) and months that have any. */
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
  /** Younger than this. Milliseconds; `undefined` = none for their age. */
  readonly forMs: number | undefined;
  /** For days, weeks and months. Default: the zone of the process. */
  readonly timeZone?: string;
}

/** Clocks of this operator and its API may differ by so much. Milliseconds. */
const AHEAD_MS = 3_600_000;

/**
 * Names of backups that no rule keeps, oldest first. Pure.
 *
 * Never the newest one, never the newest that was proved, and never one that is held: whatever the rules and the clock say.
 *
 * @param backups successful ones of one schedule, in any order
 */
export function expired(backups: readonly KeptBackup[], rules: RetentionRules, now: number): readonly string[] {
  // One of a time that has not come was taken while a clock was ahead: it must not push out what is taken now.
  const placeOf = ({ at }: KeptBackup): number => (at > now + AHEAD_MS ? at - Number.MAX_SAFE_INTEGER : at);
  const newestFirst = backups.toSorted((a, b) => placeOf(b) - placeOf(a) || (a.name < b.name ? 1 : -1));
  const newestProved = newestFirst.find(({ isProved }) => isProved);
  const calendar = calendarIn(rules.timeZone);
  const kept = new Set<KeptBackup>([
    ...newestFirst.slice(0, Math.max(1, rules.count)),
    ...(newestProved === undefined ? [] : [newestProved]),
    ...newestFirst.filter(({ isHeld }) => isHeld),
    ...newestOfEach(newestFirst, rules.daily, (at) => calendar(at).day),
    ...newestOfEach(newestFirst, rules.weekly, (at) => calendar(at).week),
    ...newestOfEach(newestFirst, rules.monthly, (at) => calendar(at).month),
    // A clock that was set back makes them younger than nothing.
    ...newestFirst.filter(({ at }) => rules.forMs !== undefined && now - at < rules.forMs),
  ]);
  return newestFirst
    .filter((backup) => !kept.has(backup))
    .map(({ name }) => name)
    .toReversed();
}

function newestOfEach(newestFirst: readonly KeptBackup[], most: number, partOf: (at: number) => string): readonly KeptBackup[] {
  const found = new Map<string, KeptBackup>();
  for (const backup of newestFirst) {
    if (found.size >= most) break;
    const part = partOf(backup.at);
    if (!found.has(part)) found.set(part, backup);
  }
  return [...found.values()];
}

function calendarIn(timeZone: string | undefined): (at: number) => { readonly day: string; readonly week: string; readonly month: string } {
  const format = new Intl.DateTimeFormat("en-CA", {
    ...(timeZone === undefined ? {} : { timeZone }),
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (at) => {
    const day = format.format(new Date(at));
    const monday = new Date(`${day}T00:00:00Z`);
    monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
    return { day, week: monday.toISOString().slice(0, 10), month: day.slice(0, 7) };
  };
}
