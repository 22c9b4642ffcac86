import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import type { Look, SeenEtcd } from "../../model/look.ts";
import type { Observed, SentEffect } from "../../model/observation.ts";
import type { IntentFact } from "../../model/record.ts";

const full: Partial<SeenEtcd> = {
  alarms: ["x"],
  raised: [{ member: "0000000000000001", kind: "no-space" }],
  dbSizeBytes: 1_000,
  dbInUseBytes: 250,
  quotaBytes: 1_000,
};
const roomy: Partial<SeenEtcd> = { ...full, dbSizeBytes: 250 };

interface Given {
  readonly what?: "Defragment" | "DisarmAlarms";
  /** Number of the machine; the first leads. Default: the second. */
  readonly on?: number;
  /** Until when it may be asked for, from now on. Milliseconds. Default: a minute. */
  readonly leftMs?: number;
  readonly sent?: SentEffect;
  readonly seen?: Partial<Observed>;
}

/** What is sent under an open intent, of an etcd of three that is full. */
function sentUnder({ what = "Defragment", on = 2, leftMs = 60_000, sent, seen: over = {} }: Given): readonly string[] {
  const machine = `demo-10.0.0.${on}`;
  const told = what === "Defragment" ? full : roomy;
  const intent: IntentFact = {
    what,
    role: "controlplane",
    machine,
    address: `10.0.0.${on}`,
    uuid: "",
    memberId: `000000000000000${on}`,
    at: NOW - 60_000,
    deadline: NOW + leftMs,
    why: "",
    ...(what === "Defragment" ? { dbSizeBytes: 1_000 } : {}),
  };
  const looks: Record<string, Look> = Object.fromEntries(
    [0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running({ ...member(index, 3), ...told })]),
  );
  const known = facts({ bootstrapDone: founded, machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`)), intents: [intent] });
  const notes: readonly (readonly [string, SentEffect])[] = sent === undefined ? [] : [[`${what}/${machine}`, sent]];
  const seen = observed({ controlPlane: controlPlane(3), facts: known, looks, sent: new Map(notes) });
  return (assess({ ...seen, ...over }).care?.actions ?? []).map((action) =>
    action.kind === "DefragmentMember" ? `${action.kind} above ${action.ifLarger}${action.mayLead ? ", which leads" : ""}` : action.kind,
  );
}

describe("what is sent to a member under an open intent", () => {
  const asks = "DefragmentMember above 999";
  const cases: readonly (readonly [string, Given, readonly string[]])[] = [
    ["nobody asked", {}, [asks]],
    ["it leads", { on: 1 }, [`${asks}, which leads`]],
    ["its time is over", { leftMs: -1 }, []],
    ["it was asked", { sent: { at: NOW - 30_000, outcome: "unknown", detail: "" } }, []],
    ["it was asked under one before", { sent: { at: NOW - 3_600_000, outcome: "answered", detail: "" } }, [asks]],
    ["this operator just took over", { seen: { mayDisturb: false } }, []],
    ["an alarm is taken back", { what: "DisarmAlarms" }, ["DisarmAlarms"]],
    ["an alarm is taken back, and its time is over", { what: "DisarmAlarms", leftMs: -1 }, []],
  ];
  for (const [what, given, want] of cases) test(what, () => assert.deepEqual(sentUnder(given), want));
});
