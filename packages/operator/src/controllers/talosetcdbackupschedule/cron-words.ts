/** The words that cron takes for whole expressions. */
export const WORDS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** What each of the five fields is called, and the numbers that it takes. */
const FIELDS = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of the month", least: 1, most: 31 },
  { name: "month", least: 1, most: 12 },
  { name: "day of the week", least: 0, most: 7 },
] as const;

const EXAMPLE = "for example 0 2 * * *";

/**
 * What is wrong with an expression that is not cron's own, in the words of the dialect that it comes from, and how to write it here.
 *
 * @param isRead whether an expression can be carried out: what is proposed is never refused in its turn
 * @returns `undefined` where nothing of it is known to be wrong
 */
export function wrongSchedule(schedule: string, isRead: (expression: string) => boolean): string | undefined {
  const zoned = /^(?:CRON_)?TZ=(\S{1,60})\s*(.*)$/is.exec(schedule);
  if (zoned !== null) {
    const [, zone = "", rest = ""] = zoned;
    return `spec.schedule holds a time zone. Write ${isRead(rest) ? rest : "five fields"} and timeZone: ${zone}.`;
  }
  if (schedule.startsWith("@")) return wrongWord(schedule);
  const fields = schedule.split(/\s+/);
  if (fields.length !== 5) return wrongCount(schedule === "" ? [] : fields, isRead);
  // Letters of other dialects (L, W, #, ?) mean other things elsewhere.
  if (!fields.every((field, index) => (index < 3 ? /^[\d*,/-]+$/ : /^([\d*,/-]|[A-Za-z]{3})+$/).test(field)))
    return "spec.schedule holds characters that cron has not. Write numbers, * , - and /, and names such as MON.";
  return fields.map(outOfRange).find((wrong) => wrong !== undefined);
}

function wrongWord(schedule: string): string {
  const [word = "", ...rest] = schedule.split(/\s+/);
  if (/^@every$/i.test(word)) {
    const every = everyTime(rest.join(""));
    return `spec.schedule has no times of day: @every counts from a start. Write ${every ?? `times, ${EXAMPLE}`}.`;
  }
  if (/^@reboot$/i.test(word)) return `spec.schedule has no time: @reboot is a start of a machine. Write when, ${EXAMPLE}.`;
  return `spec.schedule begins with an unknown word. Write one of ${Object.keys(WORDS).join(", ")}, or five fields.`;
}

/** The expression for an interval that divides the hour or the day. */
function everyTime(interval: string): string | undefined {
  const [, hours = "0", minutes = "0"] = /^(?:(\d{1,3})h)?(?:(\d{1,4})m)?(?:0s)?$/.exec(interval) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  if (total > 0 && total < 60 && 60 % total === 0) return total === 1 ? "* * * * *" : `*/${total} * * * *`;
  if (total === 60) return "0 * * * *";
  if (total === 24 * 60) return "0 0 * * *";
  return total > 60 && (24 * 60) % total === 0 && total % 60 === 0 ? `0 */${total / 60} * * *` : undefined;
}

function wrongCount(fields: readonly string[], isRead: (expression: string) => boolean): string {
  const out = (which: string, what: string, from: number): string => {
    const rest = fields.slice(from, from + 5).join(" ");
    return `In spec.schedule the ${which} of six looks like ${what}: leave it out, and write ${isRead(rest) ? rest : `five, ${EXAMPLE}`}.`;
  };
  // AWS and Quartz count years, and mark the day that does not count by ?.
  if (fields.length === 6 && (/^\d{4}$/.test(fields[5] ?? "") || fields[2] === "?" || fields[4] === "?")) return out("last", "years", 0);
  if (fields.length === 6) return out("first", "seconds", 1);
  return `spec.schedule has ${fields.length} field${fields.length === 1 ? "" : "s"}. Write five, ${EXAMPLE}.`;
}

/** The first number of a field that is not in its range, and what its range is. */
function outOfRange(field: string, index: number): string | undefined {
  const { name, least, most } = FIELDS[index] ?? FIELDS[0];
  for (const part of field.split(",")) {
    const [range = "", step] = part.split("/");
    const wrong = range.split("-").find((number) => /^\d+$/.test(number) && (Number(number) < least || Number(number) > most));
    if (wrong !== undefined) return `spec.schedule: ${wrong.slice(0, 20)} is no ${name}. Write ${least} to ${most}.`;
    if (step !== undefined && /^\d+$/.test(step) && (Number(step) < 1 || Number(step) > most - least + 1))
      return `spec.schedule: the ${name} cannot be counted in steps of ${step.slice(0, 20)}. Write 1 to ${most - least + 1}.`;
  }
  return undefined;
}
