import assert from "node:assert/strict";
import { test } from "node:test";
import { TalosError } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { attempt, noteNotSent } from "./attempt.ts";
import type { Ending, Send } from "./attempt.ts";
import type { KnownAtSend, SentEffect } from "../model/observation.ts";
import type { Effects } from "./ports.ts";

type Use = (send: Send) => Promise<void>;

const said = (code: TalosErrorCode, text = "etcd is busy"): TalosError =>
  new TalosError(code, { node: "10.0.0.2", method: "/machine.MachineService/Reset" }, text);
const fails = (thrown: Error) => async (): Promise<never> => {
  throw thrown;
};

/** How it ends, and what the session knows of it afterwards. */
async function tried(use: Use, before?: SentEffect): Promise<{ readonly ending: Ending; readonly note: SentEffect | undefined }> {
  const notes = new Map<string, SentEffect>(before === undefined ? [] : [["Reset/a", before]]);
  const session = {
    sent: () => notes,
    noteSent: (key: string, outcome: SentEffect["outcome"], detail: string, known: KnownAtSend = {}) =>
      void notes.set(key, { ...known, at: 2, outcome, detail }),
  };
  const effects = { session, log: { debug() {} }, letEnd: (call: () => Promise<unknown>) => call() } as unknown as Effects;
  const ending = await attempt("Reset/a", ["FAILED_PRECONDITION"], effects, use);
  if (ending.kind === "not-sent") noteNotSent("Reset/a", ending, effects);
  return { ending, note: notes.get("Reset/a") };
}

const ends: readonly {
  readonly what: string;
  readonly use: Use;
  readonly kind: Ending["kind"];
  readonly outcome: string;
  readonly detail: string;
}[] = [
  { what: "an answered call", use: (send) => send(() => Promise.resolve()), kind: "over", outcome: "answered", detail: "" },
  {
    what: "a call that is turned down",
    use: (send) => send(fails(said("FAILED_PRECONDITION"))),
    kind: "refused",
    outcome: "refused",
    detail: "etcd is busy",
  },
  { what: "a lost answer", use: (send) => send(fails(said("UNAVAILABLE"))), kind: "lost", outcome: "unknown", detail: "no answer" },
  {
    what: "a question that is turned down with the words of the call",
    use: fails(said("FAILED_PRECONDITION")),
    kind: "not-sent",
    outcome: "unknown",
    detail: "it could not be asked",
  },
  {
    what: "a demand that does not hold",
    use: fails(new EffectError("PRECONDITION_GONE", "it leads etcd")),
    kind: "not-sent",
    outcome: "unknown",
    detail: "it could not be asked",
  },
];

for (const { what, use, kind, outcome, detail } of ends)
  test(`${what} ends as ${kind}`, async () => {
    const { ending, note } = await tried(use);
    assert.deepEqual({ kind: ending.kind, outcome: note?.outcome, detail: note?.detail }, { kind, outcome, detail });
  });

for (const [how, call] of [
  ["was answered", () => Promise.resolve()],
  ["was turned down", fails(said("FAILED_PRECONDITION"))],
  ["was not heard of", fails(said("UNAVAILABLE"))],
] as const)
  test(`what was known at a send that ${how} is remembered`, async () => {
    const { note } = await tried((send) => send(call, { before: "not ready", ranBefore: "hash" }));
    assert.deepEqual([note?.before, note?.ranBefore], ["not ready", "hash"]);
  });

test("an attempt that sends nothing leaves what is known of the one before, as of now", async () => {
  const before: SentEffect = { at: 1, outcome: "refused", detail: "not yet", before: "not ready" };
  const { note } = await tried(fails(said("UNAVAILABLE")), before);
  assert.deepEqual(note, { ...before, at: 2 });
});

test("words of a machine are cut, and kept once", async () => {
  const { ending, note } = await tried((send) => send(fails(said("FAILED_PRECONDITION", "x".repeat(1_000)))));
  assert.equal(ending.kind === "refused" && ending.words.length, 300);
  assert.equal(note?.detail.length, 300);
});

for (const error of [new EffectError("RECORD_CHANGED", "another turn"), new RangeError("a fault of ours")])
  test(`${error.name} fails the pass`, async () => {
    await assert.rejects(tried(fails(error)), error);
  });
