import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { isEffectError } from "../errors.ts";
import { facts, observed, worker } from "../testing/builders.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import { demandUnpaused } from "./demand-unpaused.ts";

const seen = observed({ facts: facts(), workers: [worker(1)] });
const machine = "demo-workers-10.0.1.1";

/** Asks where the machine and its pool say these words by now. */
function asked(words: { readonly machine?: string; readonly pool?: string }): Promise<void> {
  const saying = (kind: string, word: string | undefined) => async (): Promise<object | undefined> =>
    word === undefined ? undefined : { kind, metadata: { name: "one", annotations: { [annotations.reconcileMode]: word } } };
  const latest = { machine: saying("TalosMachine", words.machine), worker: saying("TalosWorker", words.pool) };
  return demandUnpaused(machine, latest as unknown as LatestWords, seen);
}

test("a machine is touched when neither it nor its pool says a word against it", async () => {
  await asked({});
  await asked({ machine: "reconcile", pool: "reconcile" });
});

for (const mode of ["disable", "dryrun"])
  for (const who of ["machine", "pool"] as const)
    test(`a machine is left alone when its ${who === "pool" ? "pool" : "own object"} says ${mode} by now`, async () => {
      await assert.rejects(asked({ [who]: mode }), (thrown) => isEffectError(thrown, "MODE_CHANGED"));
    });
