// What an upgrade of control planes of one and two voters says and does first; the order of steps stands in plan-upgrades.test.ts.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import { planUpgrades } from "./plan-upgrades.ts";
import { upgradeTalos } from "./rule.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { SentEffect } from "../../model/observation.ts";
import type { MachineFact } from "../../model/record.ts";

const asked = "v1.13.10";
const installed = (n: number): Partial<MachineFact> => ({
  installed: { version: asked, before: "v1.13.9", bootId: `boot-demo-10.0.0.${n}` },
});

interface Given {
  readonly voters: number;
  readonly word?: string;
  readonly isPulled?: boolean;
  /** Of the last one. */
  readonly fact?: Partial<MachineFact>;
  readonly runs?: string;
}

function assessed({ voters, word, isPulled = true, fact = {}, runs = "v1.13.9" }: Given): Assessment {
  const numbers = Array.from({ length: voters }, (_, index) => index + 1);
  const names = numbers.map((n) => `demo-10.0.0.${n}`);
  const config = (name: string): KnownConfig => ({
    kind: "known",
    at: NOW,
    settings: "others",
    bootId: `boot-${name}`,
    version: runs,
    activeHash: "",
    changes: [],
    onDisk: "wanted",
    talos: { isStaged: false, manufacturer: "", product: "" },
  });
  const image = { asked: `ghcr.io/siderolabs/installer:${asked}`, stored: "ghcr.io/siderolabs/installer@sha256:0" };
  return assess(
    observed({
      controlPlane: controlPlane(
        voters,
        { version: asked },
        word === undefined ? {} : { annotations: { [annotations.approveOutage]: word } },
      ),
      facts: facts({
        bootstrapDone: founded,
        machines: numbers.map((n) => ({ ...configured(`10.0.0.${n}`), ...(n === voters ? fact : {}) })),
      }),
      looks: Object.fromEntries(numbers.map((n) => [`10.0.0.${n}`, running(member(n - 1, voters), { version: runs })])),
      configs: new Map(names.map((name) => [name, config(name)])),
      sent: new Map(
        (isPulled ? names : []).map((name): [string, SentEffect] => [
          `PullInstallerEnded/${name}`,
          { at: NOW, outcome: "answered", detail: "", pulled: image },
        ]),
      ),
    }),
  );
}

/** Effects, announcements of an outage, and what the condition says. */
function planned(given: Given): {
  readonly sends: readonly string[];
  readonly announced: number;
  readonly reason: string;
  readonly says: string;
} {
  const seen = assessed(given);
  const step = planUpgrades(seen, seen.facts ?? facts());
  return {
    sends: step.actions.map((action) =>
      "machine" in action && typeof action.machine === "string" ? `${action.kind} ${action.machine}` : action.kind,
    ),
    announced: step.facts.decisions.filter(({ action, reason }) => action === "Announce" && reason === "Outage").length,
    reason: step.reason ?? "",
    says: step.says,
  };
}

describe("an upgrade", () => {
  test("of one of two voters pulls nothing before a person approved the outage", () => {
    for (const word of [undefined, "v1.13.9", ""]) {
      const { sends, reason } = planned({ voters: 2, isPulled: false, ...(word === undefined ? {} : { word }) });
      assert.deepEqual([sends, reason], [[], "ApprovalRequired"], word);
    }
    assert.deepEqual(planned({ voters: 2, isPulled: false, word: asked }).sends, ["PullInstaller demo-10.0.0.2"]);
  });

  for (const [what, given] of [
    ["the only voter", { voters: 1 }],
    ["one of two voters", { voters: 2, word: asked }],
  ] as const)
    test(`of ${what} is announced with what is installed, and not a second time with the boot`, () => {
      const name = `demo-10.0.0.${given.voters}`;
      const first = planned(given);
      assert.deepEqual([first.sends, first.announced], [[`InstallTalos ${name}`], 1]);
      assert.match(first.says, /voter/);
      const then = planned({ ...given, fact: installed(given.voters) });
      assert.deepEqual([then.sends, then.announced], [[`RebootMachine ${name}`], 0]);
    });

  test("of three voters is none, and is not announced", () => {
    const { sends, announced } = planned({ voters: 3 });
    assert.deepEqual([sends, announced], [["InstallTalos demo-10.0.0.2"], 0]);
  });

  test("that is over takes the word for its outage off", () => {
    const over = upgradeTalos.decide(assessed({ voters: 2, word: asked, runs: asked }));
    assert.deepEqual(
      over?.actions.map(({ kind }) => kind),
      ["AnswerAnnotation"],
    );
  });
});
