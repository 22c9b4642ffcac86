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
