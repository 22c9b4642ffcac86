// Genuine parts: golden
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { assert as check, asyncProperty, oneof, type Arbitrary } from "fast-check";
import { createX509Keys, inspectCertificate } from "@talos-operator/adapters";
import { contractFor } from "../versions/contract.ts";
import { generationOf } from "../config/patch/patch.ts";
import { runGolden } from "../golden/run.ts";
import type { Generation } from "../config/schema/notation.ts";
import { compareEncoding, compareGenerated, comparePatches, compareValidation, type Difference } from "./compare.ts";
import { configOf } from "./documents.ts";
import { generation as generatorInput } from "./options.ts";
import { startOracle, type Oracle } from "./testing/real-machinery.ts";
import { patchCase } from "./patches.ts";
import { clientCertificates, contracts, talosconfigs, versions, type SmallInput } from "./small-formats.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"];
/** The same seed gives the same inputs: a change is judged by its own faults, and other seeds look for new ones. fast-check prints the path of the smallest input. */
const seed = Number(process.env["TALOS_OPERATOR_SEED"] ?? 1);
/** Of each kind. */
const numRuns = Number(process.env["TALOS_OPERATOR_RUNS"] ?? 300);
const keys = createX509Keys();
const bundles = "secrets/gen-shared-c1.{2,5,6,7,8,9,10,11,12,13}/secrets.yaml";

const golden = join(import.meta.dirname, "../../testdata/golden");
const refuseFiles = (path: string): string => {
  throw new Error(`the input refers to a file: ${path}`);
};
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
    compare: (input: T, answer: Readonly<Record<string, unknown>>) => Difference | Promise<Difference>,
    runs = numRuns,
  ): Promise<void> {
    await check(
      asyncProperty(inputs, async (input) => {
        const difference = await compare(input, await oracle.ask(kind, input));
        assert.equal(difference, undefined, difference);
      }),
      { seed, numRuns: runs, endOnFailure: true },
    );
  }

  /** Reads a config on both sides, and once more what came of it. */
  async function compareTwice({ config }: { readonly config: string }, answer: Readonly<Record<string, unknown>>): Promise<Difference> {
    const difference = compareEncoding(config, answer, contract);
    const printed = answer["canonical"];
    if (difference !== undefined || typeof printed !== "string") return difference;
    return compareEncoding(printed, await oracle.ask("encoding", { config: printed }), contract);
  }

  /** Small formats are compared like recorded cases. */
  const compareAs =
    (kind: string) =>
    async (input: SmallInput, answer: Readonly<Record<string, unknown>>): Promise<Difference> => {
      if (answer["panic"] !== undefined) return undefined;
      const now = typeof input["now"] === "string" ? Date.parse(input["now"]) : Date.parse("2026-03-01T12:00:00Z");
      const golden = { id: "random", source: oracle.version, input, expected: answer };
      const outcome = await runGolden(golden, { kind, readFile: refuseFiles, keys, inspect: inspectCertificate, now });
      return outcome.status === "passed" ? undefined : JSON.stringify(outcome);
    };

  /** Well-formed configs, slightly and rather wild ones. */
  const configs = (): Arbitrary<{ readonly config: string }> =>
    oneof(
      configOf(newest, { oddValues: 0, damage: 0 }),
      configOf(newest, { oddValues: 2, damage: 5 }),
      configOf(newest, { oddValues: 10, damage: 10 }),
    ).map((config) => ({ config }));

  test("configs are read and printed", () => sameForAll("encoding", configs(), compareTwice));

  test("configs are validated", () =>
    sameForAll("validate", configs(), ({ config }, answer) => compareValidation(config, answer, contract)));

  test("patches are applied", () =>
    sameForAll("patches", patchCase(newest, textsOf("genconfig/c1.*/{controlplane,worker}.yaml")), (input, answer) =>
      comparePatches(input, answer, contract),
    ));

  test("configs are generated", () => sameForAll("genconfig", generatorInput(textsOf(bundles), newest), compareGenerated));

  test("talosconfigs are read, merged and printed", () => sameForAll("talosconfig", talosconfigs(), compareAs("talosconfig")));

  // Each makes keys, which takes its time.
  test("client certificates are what apid asks for", () =>
    sameForAll("pki", clientCertificates(textsOf(bundles)), compareAs("pki"), Math.ceil(numRuns / 5)));

  test("versions of one, two and three parts go together or not", () => sameForAll("kubernetes", versions(), compareAs("kubernetes")));

  test("contracts are read", () => sameForAll("version-contract", contracts(), compareAs("version-contract")));
});
