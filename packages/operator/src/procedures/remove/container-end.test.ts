import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, NOW, observed, running } from "../../testing/builders.ts";
import { endOfContainer } from "./container-end.ts";
import type { SentEffect } from "../../model/observation.ts";
import type { IntentFact } from "../../model/record.ts";

const fact = configured("10.0.0.1");
const intent: IntentFact = {
  what: "Reset",
  role: "controlplane",
  machine: fact.name,
  address: fact.address,
  uuid: fact.uuid,
  at: NOW - 120_000,
  deadline: NOW + 600_000,
  why: "w",
};

/** How the reset of a container ended that was silent for so long. */
function endAfter(silentMs: number, outcome: SentEffect["outcome"]): string | undefined {
  const sent = new Map([[`Reset/${fact.name}`, { at: NOW - 120_000, outcome, detail: "" }]]);
  const look = { kind: "silent", at: NOW, since: NOW - silentMs, detail: "unreachable" } as const;
  return endOfContainer(observed({ facts: facts({ machines: [fact] }), sent }), { look }, intent);
}

test("a container that accepted its reset counts as stopped after 20 s without an answer", () => {
  assert.deepEqual([endAfter(19_999, "answered"), endAfter(20_000, "answered")], [undefined, "stopped"]);
});

test("a container that may never have heard of its reset counts as stopped after a minute", () => {
  assert.deepEqual([endAfter(59_999, "unknown"), endAfter(60_000, "unknown")], [undefined, "stopped"]);
});

test("a container that answers has not ended, and was started again where it did not answer before", () => {
  const seen = observed({ facts: facts({ machines: [fact] }) });
  assert.equal(endOfContainer(seen, { look: running() }, intent), undefined);
  assert.equal(endOfContainer(seen, { look: running() }, { ...intent, stoppedAt: NOW }), "started-again");
});
