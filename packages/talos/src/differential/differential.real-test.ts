import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { assert as check, asyncProperty, oneof, type Arbitrary } from "fast-check";
import { contractFor } from "../versions/contract.ts";
import { generationOf } from "../config/patch/patch.ts";
import type { Generation } from "../config/schema/notation.ts";
import { compareEncoding, compareGenerated, comparePatches, compareValidation, type Difference } from "./compare.ts";
import { configOf } from "./documents.ts";
import { generation as generatorInput } from "./options.ts";
import { startOracle, type Oracle } from "./testing/real-machinery.ts";
import { patchCase } from "./patches.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"];
/** The same seed gives the same inputs: a change is judged by its own faults, and other seeds look for new ones. fast-check prints the path of the smallest input. */
const seed = Number(process.env["TALOS_OPERATOR_SEED"] ?? 1);
/** Of each kind. */
const numRuns = Number(process.env["TALOS_OPERATOR_RUNS"] ?? 300);

const golden = join(import.meta.dirname, "../../testdata/golden");
const textsOf = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: golden })
    .toSorted()
    .map((file) => readFileSync(join(golden, file), "utf8"));

describe(`random inputs, answered like the genuine machinery (TALOS_OPERATOR_SEED=${seed})`, () => {
  let oracle: Oracle;
  let contract = "";
  let newest: Generation = "1.13";
  before(async () => {
    assert.ok(tools !== undefined, "TALOS_OPERATOR_TOOLS names the folder of the genuine tools: use npm run test:real");
    oracle = await startOracle(join(tools, "golden"));
    contract = contractFor(oracle.version);
    newest = generationOf(contract);
  });
  after(() => oracle.close());

  async function sameForAll<T extends object>(
    kind: string,
    inputs: Arbitrary<T>,
    compare: (input: T, answer: Readonly<Record<string, unknown>>) => Difference,
  ): Promise<void> {
    await check(
      asyncProperty(inputs, async (input) => {
        const difference = compare(input, await oracle.ask(kind, input));
        assert.equal(difference, undefined, difference);
      }),
      { seed, numRuns, endOnFailure: true },
    );
  }

  /** Well-formed configs, slightly and rather wild ones. */
  const configs = (): Arbitrary<{ readonly config: string }> =>
    oneof(
      configOf(newest, { oddValues: 0, damage: 0 }),
      configOf(newest, { oddValues: 2, damage: 5 }),
      configOf(newest, { oddValues: 10, damage: 10 }),
    ).map((config) => ({ config }));

  test("configs are read and printed", () =>
    sameForAll("encoding", configs(), ({ config }, answer) => compareEncoding(config, answer, contract)));

  test("configs are validated", () =>
    sameForAll("validate", configs(), ({ config }, answer) => compareValidation(config, answer, contract)));

  test("patches are applied", () =>
    sameForAll("patches", patchCase(newest, textsOf("genconfig/c1.*/{controlplane,worker}.yaml")), (input, answer) =>
      comparePatches(input, answer, contract),
    ));

  test("configs are generated", () =>
    sameForAll(
      "genconfig",
      generatorInput(textsOf("secrets/gen-shared-c1.{2,5,6,7,8,9,10,11,12,13}/secrets.yaml"), newest),
      compareGenerated,
    ));
});
