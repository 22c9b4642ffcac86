import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { NOW, observed } from "../testing/builders.ts";
import { StepTimes } from "./step-times.ts";
import type { Look } from "../model/look.ts";
import type { UpgradeIntent } from "../record/upgrades.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const machine = "demo-10.0.0.1";
const intent: UpgradeIntent = {
  what: "Reboot",
  machine,
  address: "10.0.0.1",
  uuid: "",
  role: "controlplane",
  at: NOW,
  deadline: NOW + 15 * MINUTE,
  why: "",
  talosVersion: "v1.13.10",
  talosBefore: "v1.13.9",
};
const refused: Look = { kind: "foreign", isByTime: true, at: NOW, detail: "" };

/** What passes, then what a pass sees: by default the same intent, and the machine. */
interface Then {
  readonly afterMs: number;
  readonly now: number;
  readonly over: boolean;
  readonly isUnseen?: true;
  readonly intent?: Partial<UpgradeIntent>;
}

const begun: Then = { afterMs: 0, now: NOW, over: false };
const cases: readonly (readonly [string, readonly Then[]])[] = [
  ["has its whole time", [begun, { afterMs: 14 * MINUTE, now: NOW + 14 * MINUTE, over: false }]],
  ["is over after it", [begun, { afterMs: 15 * MINUTE, now: NOW + 15 * MINUTE, over: true }]],
  [
    "is over after it whatever the clock says",
    [begun, { afterMs: MINUTE, now: NOW + 6 * HOUR, over: false }, { afterMs: 14 * MINUTE, now: NOW - 6 * HOUR, over: true }],
  ],
  [
    "has what is left of it in another process",
    [
      { afterMs: 0, now: NOW + 10 * MINUTE, over: false },
      { afterMs: 4 * MINUTE, now: NOW + 14 * MINUTE, over: false },
      { afterMs: MINUTE, now: NOW + 15 * MINUTE, over: true },
    ],
  ],
  [
    "is over a minute after another process comes that takes it for over",
    [
      { afterMs: 0, now: NOW + 6 * HOUR, over: false },
      { afterMs: MINUTE, now: NOW + 6 * HOUR, over: true },
    ],
  ],
  [
    "has no more than its whole time by a clock that is behind",
    [
      { ...begun, now: NOW - HOUR },
      { afterMs: 15 * MINUTE, now: NOW, over: true },
    ],
  ],
  [
    "is the same one when its times are read by another clock",
    [
      begun,
      {
        afterMs: 15 * MINUTE,
        now: NOW - HOUR,
        over: true,
        intent: { at: NOW - HOUR, deadline: NOW - 45 * MINUTE, recorded: { at: NOW, deadline: intent.deadline } },
      },
    ],
  ],
  ["counts anew when it got another deadline", [begun, { afterMs: 15 * MINUTE, now: NOW, over: false, intent: { deadline: NOW + HOUR } }]],
  [
    "is not over while the machine cannot be seen for the dates of certificates, nor for a minute after that",
    [
      begun,
      { afterMs: MINUTE, now: NOW - 6 * HOUR, over: false, isUnseen: true },
      { afterMs: HOUR, now: NOW - 5 * HOUR, over: false, isUnseen: true },
      { afterMs: 0, now: NOW + HOUR, over: false },
      { afterMs: MINUTE, now: NOW + HOUR, over: true },
    ],
  ],
];

describe("a step of an upgrade", () => {
  for (const [what, course] of cases)
    test(what, async () => {
      const time = createVirtualTime();
      const times = new StepTimes(time.timers);
      for (const [index, { afterMs, now, over, isUnseen, intent: changed }] of course.entries()) {
        await time.advance(afterMs);
        const seen = observed({ now, ...(isUnseen === true ? { looks: { "10.0.0.1": refused } } : {}) });
        assert.deepEqual([...times.overdue(seen, { intents: [{ ...intent, ...changed }] })], over ? [machine] : [], `pass ${index}`);
      }
      times.close();
    });

  test("is forgotten when it has ended", async () => {
    const time = createVirtualTime();
    const times = new StepTimes(time.timers);
    times.overdue(observed({}), { intents: [intent] });
    times.overdue(observed({}), { intents: [] });
    await time.advance(15 * MINUTE);
    assert.deepEqual([...times.overdue(observed({}), { intents: [intent] })], []);
    times.close();
  });
});
