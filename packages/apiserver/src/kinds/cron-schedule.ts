interface Field {
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const fields: readonly Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: months },
  { from: 0, to: 6, names: days },
];
const descriptors = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

/**
 * What is wrong with the schedule of a CronJob, in the words of the genuine server; `undefined` for a good one. Five fields of numbers,
 * names, ranges, steps and lists, or one of the short forms (`@daily`, `@every 1h`).
 */
export function scheduleProblem(schedule: string): string | undefined {
  if (/^(?:CRON_)?TZ=/u.test(schedule)) return "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
  if (schedule.startsWith("@")) {
    const every = /^@every (.*)$/u.exec(schedule)?.[1];
    if (every !== undefined) {
      return /^(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/u.test(every)
        ? undefined
        : `failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(every)}`;
    }
    return descriptors.has(schedule) ? undefined : `unrecognized descriptor: ${schedule}`;
  }
  const parts = schedule.split(/\s+/u).filter((part) => part !== "");
  if (parts.length !== fields.length) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`;
  for (const [index, part] of parts.entries()) {
    for (const one of part.split(",").filter((text) => text !== "")) {
      const problem = rangeProblem(one, fields[index] as Field);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function rangeProblem(text: string, field: Field): string | undefined {
  const [range = "", step, ...moreSteps] = text.split("/");
  const [low = "", high, ...moreBounds] = range.split("-");
  if (moreBounds.length > 0) return `too many hyphens: ${text}`;
  if (moreSteps.length > 0) return `too many slashes: ${text}`;
  let [from, to] = [field.from, field.to];
  if (low !== "*" && low !== "?") {
    const first = valueOf(low, field);
    if (typeof first === "string") return first;
    const last = high === undefined ? (step === undefined ? first : field.to) : valueOf(high, field);
    if (typeof last === "string") return last;
    [from, to] = [first, last];
  }
  if (step !== undefined) {
    const width = valueOf(step, { from: 0, to: 0 });
    if (typeof width === "string") return width;
    if (width === 0) return `step of range should be a positive number: ${text}`;
  }
  if (from < field.from) return `beginning of range (${from}) below minimum (${field.from}): ${text}`;
  if (to > field.to) return `end of range (${to}) above maximum (${field.to}): ${text}`;
  return from > to ? `beginning of range (${from}) beyond end of range (${to}): ${text}` : undefined;
}

/** A number, or what is wrong with it. */
function valueOf(text: string, { from, names }: Field): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + from;
  if (/^\+?\d+$/u.test(text)) return Number(text);
  if (/^-\d+$/u.test(text)) return `negative number (${text}) not allowed: ${text}`;
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}
