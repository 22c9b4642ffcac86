import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import { controlPlane, facts, founded, member, NOW, observed, running, silent } from "../testing/builders.ts";
import { controlPlaneMargin } from "./control-plane-margin.ts";
import { whyHeld } from "./slot-words.ts";
import type { IntentFact } from "../model/record.ts";

interface Given {
  readonly size: number;
  /** Numbers of control planes that do not answer. */
  readonly away?: readonly number[];
  /** The control plane with an open effect. */
  readonly busy?: number;
  readonly what?: IntentFact["what"];
  readonly isFounded?: boolean;
  readonly mayDisturb?: boolean;
}

/** Why workers are left alone; `spare` where they are not. */
function margin({ size, away = [], busy, what = "Reboot", isFounded = true, mayDisturb = true }: Given): string {
  const numbers = Array.from({ length: size }, (_, index) => index + 1);
  const known = facts({
    ...(isFounded ? { bootstrapDone: founded } : {}),
    intents:
      busy === undefined
        ? []
        : [
            {
              what,
              role: "controlplane",
              machine: `demo-10.0.0.${busy}`,
              address: `10.0.0.${busy}`,
              uuid: "",
              at: NOW,
              deadline: NOW,
              why: "",
              memberId: String(busy).padStart(16, "0"),
            },
          ],
  });
  const seen = observed({
    controlPlane: controlPlane(size),
    facts: known,
    mayDisturb,
    looks: Object.fromEntries(numbers.map((n) => [`10.0.0.${n}`, away.includes(n) ? silent : running(member(n - 1, size))])),
  });
  const found = controlPlaneMargin(assess(seen), known);
  return found.kind === "spare" ? "spare" : whyHeld(found.holder);
}

describe("workers beside their control plane", () => {
  for (const [what, given, want] of [
    ["all of three are there", { size: 3 }, /^spare$/],
    ["the only one is there", { size: 1 }, /^spare$/],
    ["one of three is away", { size: 3, away: [3] }, /2 of 3 control planes are healthy, none more than needed/],
    ["one of three is about to boot", { size: 3, busy: 2 }, /demo-10\.0\.0\.2 is in the middle of an effect/],
    ["one of five is about to boot", { size: 5, busy: 2 }, /^spare$/],
    ["one of five is away", { size: 5, away: [3] }, /^spare$/],
    ["one of five is away, and another is about to boot", { size: 5, away: [3], busy: 2 }, /demo-10\.0\.0\.2 is in the middle/],
    ["one of five is away, and its member is being removed", { size: 5, away: [3], busy: 3, what: "RemoveMember" }, /^spare$/],
    ["two of five are away", { size: 5, away: [3, 4] }, /3 of 5 control planes are healthy/],
    ["etcd is not bootstrapped", { size: 3, isFounded: false }, /not bootstrapped/],
    ["nobody tells of etcd", { size: 3, away: [1, 2, 3] }, /no control plane reports/],
    ["the leader has just changed", { size: 3, mayDisturb: false }, /just took over/],
  ] as const satisfies readonly (readonly [string, Given, RegExp])[])
    test(`${want.source === "^spare$" ? "may be disturbed" : "are left alone"} while ${what}`, () => assert.match(margin(given), want));
});
