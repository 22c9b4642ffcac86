import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { expired } from "./retention.ts";
import type { KeptBackup, RetentionRules } from "./retention.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 15, 12);
const rules: RetentionRules = { count: 1, daily: 0, weekly: 0, monthly: 0, forMs: undefined, timeZone: "UTC" };
const daysAgo = (days: number, over: Partial<KeptBackup> = {}): KeptBackup => ({
  name: `d${days}`,
  at: NOW - days * DAY,
  isProved: false,
  isHeld: false,
  ...over,
});
const week = [0, 1, 2, 3, 4, 5, 6].map((days) => daysAgo(days));

const cases: readonly (readonly [string, readonly KeptBackup[], Partial<RetentionRules>, readonly string[]])[] = [
  ["the newest five", week, { count: 5 }, ["d6", "d5"]],
  ["the newest alone", week, {}, ["d6", "d5", "d4", "d3", "d2", "d1"]],
  [
    "the newest proved one too",
    [...week.slice(0, 3), daysAgo(3, { isProved: true }), daysAgo(4, { isProved: true })],
    {},
    ["d4", "d2", "d1"],
  ],
  ["what is held", [...week.slice(0, 2), daysAgo(9, { isHeld: true })], {}, ["d1"]],
  ["one a day", [daysAgo(0), daysAgo(0.1), daysAgo(1), daysAgo(1.1), daysAgo(2)], { daily: 2 }, ["d2", "d1.1", "d0.1"]],
  // The 15th of June 2026 is a Monday: the week before begins on the 8th.
  ["one a week", [daysAgo(0), daysAgo(1), daysAgo(7), daysAgo(8), daysAgo(14)], { weekly: 3 }, ["d14", "d7"]],
  ["one a month", [daysAgo(0), daysAgo(14), daysAgo(15), daysAgo(20), daysAgo(50)], { monthly: 2 }, ["d50", "d20", "d14"]],
  ["what is taken now, whatever was taken while a clock was ahead", [daysAgo(-300), daysAgo(0), daysAgo(1)], { count: 2 }, ["d-300"]],
  ["what is young", week, { forMs: 3 * DAY }, ["d6", "d5", "d4", "d3"]],
];
for (const [name, backups, over, want] of cases)
  test(`retention keeps ${name}`, () => assert.deepEqual(expired(backups, { ...rules, ...over }, NOW), want));

test("the day is that of the schedule's time zone", () => {
  const late = [daysAgo(0, { name: "a", at: Date.UTC(2026, 5, 15, 1) }), daysAgo(0, { name: "b", at: Date.UTC(2026, 5, 14, 23) })];
  assert.deepEqual(expired(late, { ...rules, daily: 2 }, NOW), []);
  assert.deepEqual(expired(late, { ...rules, daily: 2, timeZone: "Europe/Berlin" }, NOW), ["b"]);
});

const backups = fc
  .uniqueArray(fc.integer({ min: 0, max: 2_000 }), { maxLength: 60 })
  .chain((hours) =>
    fc.tuple(
      ...hours.map((hour) =>
        fc.record({ name: fc.constant(`h${hour}`), at: fc.constant(NOW - hour * 3_600_000), isProved: fc.boolean(), isHeld: fc.boolean() }),
      ),
    ),
  );
const anyRules = fc.record({
  count: fc.integer({ min: -1, max: 8 }),
  daily: fc.integer({ min: 0, max: 8 }),
  weekly: fc.integer({ min: 0, max: 8 }),
  monthly: fc.integer({ min: 0, max: 8 }),
  forMs: fc.option(fc.integer({ min: 0, max: 60 * DAY }), { nil: undefined }),
  timeZone: fc.constantFrom("UTC", "Europe/Berlin", "Pacific/Apia"),
});
// Often among the backups themselves.
const anyNow = fc.oneof(
  fc.integer({ min: NOW - 1_000 * DAY, max: NOW + 1_000 * DAY }),
  fc.integer({ min: NOW - 100 * DAY, max: NOW + DAY }),
);

test("property: never the newest, the newest proved or a held one; never more than the rules let go; the same again says nothing", () => {
  fc.assert(
    fc.property(backups, anyRules, anyNow, (all, given, now) => {
      const gone = new Set(expired(all, given, now));
      // Of a time that has not come: taken while a clock was ahead, and older than all that was not.
      const isAhead = ({ at }: { readonly at: number }): boolean => at > now + 3_600_000;
      const byTime = all.toSorted((a, b) => b.at - a.at);
      const newestFirst = [...byTime.filter((one) => !isAhead(one)), ...byTime.filter(isAhead)];
      const [newest] = newestFirst;
      const proved = newestFirst.find(({ isProved }) => isProved);
      assert.ok(newest === undefined || !gone.has(newest.name));
      assert.ok(proved === undefined || !gone.has(proved.name));
      for (const { name, isHeld, at } of all) {
        assert.ok(!isHeld || !gone.has(name));
        assert.ok(given.forMs === undefined || now - at >= given.forMs || !gone.has(name));
      }
      assert.ok(newestFirst.slice(0, Math.max(0, given.count)).every(({ name }) => !gone.has(name)));
      const left = all.filter(({ name }) => !gone.has(name));
      assert.deepEqual(expired(left, given, now), []);
      assert.deepEqual(expired(all.toReversed(), given, now), [...gone]);
    }),
    { numRuns: 300 },
  );
});
