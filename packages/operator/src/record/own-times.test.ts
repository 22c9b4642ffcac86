import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { facts } from "../testing/builders.ts";
import { OwnTimes } from "./own-times.ts";
import type { ClusterFacts, IntentFact } from "../model/record.ts";

const HOUR_MS = 3_600_000;
const AT = 10 * HOUR_MS;
const intent: IntentFact = {
  what: "ApplyConfig",
  machine: "demo-10.0.0.4",
  address: "10.0.0.4",
  uuid: "",
  role: "worker",
  at: AT,
  deadline: AT + 240_000,
  why: "",
};
const open: ClusterFacts = { ...facts(), intents: [intent] };
const timesAt = (times: OwnTimes, now: number): readonly number[] => {
  const [seen] = times.of(open, now).intents;
  return [seen?.at ?? 0, seen?.deadline ?? 0];
};

describe("times of an open intent", () => {
  test("that lies behind are those of the record, also long after its deadline", () => {
    const times = new OwnTimes();
    for (const now of [AT, AT + 1, AT + 6 * HOUR_MS]) assert.equal(times.of(open, now), open);
  });

  test("that lies ahead count from when it was first seen so, with its whole time, and what the record says is kept", () => {
    const times = new OwnTimes();
    const now = AT - 6 * HOUR_MS;
    assert.deepEqual(timesAt(times, now), [now, now + 240_000]);
    assert.deepEqual(timesAt(times, now + 100_000), [now, now + 240_000]);
    assert.deepEqual(times.of(open, now).intents[0]?.recorded, { at: AT, deadline: AT + 240_000 });
  });

  test("count anew when the clock is set back once more, and by the record when it is set right", () => {
    const times = new OwnTimes();
    timesAt(times, AT - HOUR_MS);
    assert.deepEqual(timesAt(times, AT - 2 * HOUR_MS), [AT - 2 * HOUR_MS, AT - 2 * HOUR_MS + 240_000]);
    assert.deepEqual(timesAt(times, AT + 1_000), [AT, AT + 240_000]);
    assert.deepEqual(timesAt(times, AT - HOUR_MS), [AT - HOUR_MS, AT - HOUR_MS + 240_000]);
  });
});
