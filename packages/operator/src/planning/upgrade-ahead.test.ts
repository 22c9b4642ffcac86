import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../testing/builders.ts";
import { isLookAheadDue } from "./upgrade-ahead.ts";
import type { Observed } from "../model/observation.ts";
import type { IntentFact } from "../model/record.ts";
import type { SeenAhead } from "../model/workload.ts";

const never: SeenAhead = { at: Number.NEGATIVE_INFINITY, isAsking: false, says: undefined, isUnanswered: false };
const asked = (agoMs: number, over: Partial<SeenAhead> = {}): SeenAhead => ({ ...never, at: NOW - agoMs, says: [], ...over });

const installing: IntentFact = {
  what: "InstallTalos",
  machine: "demo-10.0.0.1",
  role: "controlplane",
  address: "10.0.0.1",
  uuid: "",
  at: NOW,
  deadline: NOW + 60_000,
  why: "",
  talosVersion: "v1.13.10",
  talosBefore: "v1.13.9",
};

interface Case {
  readonly title: string;
  readonly version?: string;
  readonly ahead?: SeenAhead;
  readonly intents?: readonly IntentFact[];
  readonly over?: Partial<Observed>;
  readonly expect: boolean;
}

const cases: readonly Case[] = [
  { title: "asks in a dry run of another version", expect: true },
  { title: "asks nobody where everything runs that is asked for", version: "v1.13.9", expect: false },
  { title: "asks nobody while an answer is awaited", ahead: { ...never, isAsking: true }, expect: false },
  { title: "does not ask again within five minutes", ahead: asked(299_000), expect: false },
  { title: "asks again after five minutes", ahead: asked(300_000), expect: true },
  { title: "asks sooner where nobody answered", ahead: asked(30_000, { isUnanswered: true }), expect: true },
  { title: "leaves a silent API alone for a while", ahead: asked(29_000, { isUnanswered: true }), expect: false },
  { title: "asks nobody once a machine is being upgraded", intents: [installing], expect: false },
  { title: "asks nobody while the cluster is paused", over: { mode: "disable" }, expect: false },
  { title: "asks while an upgrade waits for something", over: { mode: "reconcile" }, expect: true },
  { title: "asks nobody where the cluster's own API is not wired in", over: { ahead: undefined as never }, expect: false },
];

for (const { title, version = "v1.13.10", ahead = never, intents = [], over = {}, expect } of cases)
  test(`what holds up drains: ${title}`, () => {
    const seen: Observed = {
      ...observed({
        controlPlane: controlPlane(3, { version }),
        facts: facts({ bootstrapDone: founded, machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`)), intents }),
        looks: Object.fromEntries([0, 1, 2].map((n) => [`10.0.0.${n + 1}`, running(member(n, 3), { version: "v1.13.9" })])),
      }),
      mode: "dryrun",
      ahead,
      ...over,
    };
    assert.equal(isLookAheadDue(assess(seen)), expect);
  });
