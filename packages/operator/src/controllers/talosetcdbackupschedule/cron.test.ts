import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readSchedule } from "./cron.ts";

/** The first times after a moment, in UTC to the minute. */
function times(schedule: string, timeZone: string, from: string, count: number): readonly string[] {
  const read = readSchedule(schedule, timeZone);
  assert.ok(read.kind === "times");
  const found: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (found.length < count) {
    at = read.times.after(at);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

const cases: readonly {
  readonly name: string;
  readonly schedule: string;
  readonly zone: string;
  readonly from: string;
  readonly want: readonly string[];
}[] = [
  { name: "every night", schedule: "0 2 * * *", zone: "UTC", from: "2026-01-01T02:00:00Z", want: ["2026-01-02T02:00", "2026-01-03T02:00"] },
  {
    name: "the word for it",
    schedule: "@daily",
    zone: "UTC",
    from: "2026-01-01T02:00:00Z",
    want: ["2026-01-02T00:00", "2026-01-03T00:00"],
  },
  { name: "Sunday as 7", schedule: "0 2 * * 7", zone: "UTC", from: "2026-01-01T00:00:00Z", want: ["2026-01-04T02:00", "2026-01-11T02:00"] },
  { name: "names", schedule: "0 2 * JAN MON", zone: "UTC", from: "2026-01-01T00:00:00Z", want: ["2026-01-05T02:00", "2026-01-12T02:00"] },
  {
    name: "day of month or of week",
    schedule: "0 0 13 * 5",
    zone: "UTC",
    from: "2026-01-10T00:00:00Z",
    want: ["2026-01-13T00:00", "2026-01-16T00:00"],
  },
  {
    name: "an hour that is left out: right after it",
    schedule: "30 2 * * *",
    zone: "Europe/Berlin",
    from: "2026-03-27T12:00:00Z",
    want: ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
  },
  {
    name: "an hour that comes twice: once",
    schedule: "30 2 * * *",
    zone: "Europe/Berlin",
    from: "2026-10-24T12:00:00Z",
    want: ["2026-10-25T00:30", "2026-10-26T01:30"],
  },
  {
    name: "every hour goes through both",
    schedule: "0 * * * *",
    zone: "Europe/Berlin",
    from: "2026-10-24T23:30:00Z",
    want: ["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"],
  },
  {
    name: "a zone of half an hour",
    schedule: "0 2 * * *",
    zone: "Australia/Lord_Howe",
    from: "2026-01-01T00:00:00Z",
    want: ["2026-01-01T15:00"],
  },
  { name: "the 29th of February", schedule: "0 0 29 2 *", zone: "UTC", from: "2096-03-01T00:00:00Z", want: ["2104-02-29T00:00"] },
];
describe("a schedule", () => {
  for (const { name, schedule, zone, from, want } of cases)
    test(name, () => assert.deepEqual(times(schedule, zone, from, want.length), want));

  test("that never fires", () => assert.deepEqual(times("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1), []));
});

for (const [schedule, zone] of [
  ["", undefined],
  ["0 2 * *", undefined],
  ["0 0 2 * * *", undefined],
  ["60 2 * * *", undefined],
  ["0 2 L * *", undefined],
  ["0 2 ? * *", undefined],
  ["0 2 * * MON#1", undefined],
  ["0 2 * * FOO", undefined],
  ["* * * * 8", undefined],
  ["*/0 * * * *", undefined],
  ["@reboot", undefined],
  ["TZ=UTC 0 2 * *", undefined],
  ["0 2 * * *", "Mars/Olympus"],
  ["0 2 * * *", ""],
] as const)
  test(`no schedule: ${JSON.stringify(schedule)} in ${zone ?? "the zone of the process"}`, () => {
    assert.equal(readSchedule(schedule, zone).kind, "invalid");
  });

const NO_TIMES = "spec.schedule has no times of day: @every counts from a start.";
for (const [schedule, says] of [
  ["CRON_TZ=Europe/Oslo 0 3 * * *", "spec.schedule holds a time zone. Write 0 3 * * * and timeZone: Europe/Oslo."],
  ["TZ=UTC @daily", "spec.schedule holds a time zone. Write @daily and timeZone: UTC."],
  ["TZ=UTC 0 0 3 * * *", "spec.schedule holds a time zone. Write five fields and timeZone: UTC."],
  ["@every 6h", `${NO_TIMES} Write 0 */6 * * *.`],
  ["@every 15m", `${NO_TIMES} Write */15 * * * *.`],
  ["@every 1h0m0s", `${NO_TIMES} Write 0 * * * *.`],
  ["@every 24h", `${NO_TIMES} Write 0 0 * * *.`],
  ["@every 90m", `${NO_TIMES} Write times, for example 0 2 * * *.`],
  ["@every 5h", `${NO_TIMES} Write times, for example 0 2 * * *.`],
  ["@reboot", "spec.schedule has no time: @reboot is a start of a machine. Write when, for example 0 2 * * *."],
  [
    "@nightly",
    "spec.schedule begins with an unknown word. Write one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or five fields.",
  ],
  ["0 0 3 * * *", "In spec.schedule the first of six looks like seconds: leave it out, and write 0 3 * * *."],
  ["0 3 * * ? *", "In spec.schedule the last of six looks like years: leave it out, and write five, for example 0 2 * * *."],
  ["0 3 * * * 2027", "In spec.schedule the last of six looks like years: leave it out, and write 0 3 * * *."],
  ["0 3 * *", "spec.schedule has 4 fields. Write five, for example 0 2 * * *."],
  ["daily", "spec.schedule has 1 field. Write five, for example 0 2 * * *."],
  ["0 24 * * *", "spec.schedule: 24 is no hour. Write 0 to 23."],
  ["60 2 * * *", "spec.schedule: 60 is no minute. Write 0 to 59."],
  ["0 2 0 * *", "spec.schedule: 0 is no day of the month. Write 1 to 31."],
  ["0 2 1,32 * *", "spec.schedule: 32 is no day of the month. Write 1 to 31."],
  ["0 2 * 1-13 *", "spec.schedule: 13 is no month. Write 1 to 12."],
  ["0 2 * * 8", "spec.schedule: 8 is no day of the week. Write 0 to 7."],
  ["*/90 * * * *", "spec.schedule: the minute cannot be counted in steps of 90. Write 1 to 60."],
] as const)
  test(`the way out of ${schedule} is named`, () => {
    const read = readSchedule(schedule, undefined);
    assert.equal(read.kind === "invalid" ? read.message : read.kind, says);
  });
