import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createX509Keys, inspectCertificate } from "@talos-operator/adapters";
import { casesOf, goldenRunners, runGolden, runGoldens } from "./run.ts";

const root = new URL("../../testdata/golden/", import.meta.url);
const keys = createX509Keys();
const now = Date.parse("2026-03-01T12:00:00Z");

/** Cases that are known to be answered otherwise. */
const knownFailing: ReadonlySet<string> = new Set(
  readFileSync(new URL("known-failing.txt", root), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#")),
);

for (const kind of goldenRunners.keys()) {
  const readFile = (path: string): string => readFileSync(new URL(`${kind}/${path}`, root), "utf8");
  describe(`${kind}, as the genuine library answers`, { concurrency: false }, () => {
    for (const golden of casesOf({ readFile })) {
      test(golden.id, async () => {
        const outcome = await runGolden(golden, { kind, readFile, keys, inspect: inspectCertificate, now });
        if (knownFailing.has(`${kind}/${golden.id}`)) assert.equal(outcome.status, "failed", "passes now: take it off known-failing.txt");
        else assert.deepEqual(outcome, { status: "passed" });
      });
    }
  });
}

test("a case with another answer is reported as failed, with the first line that differs", async () => {
  const index = {
    cases: [{ id: "x", source: "v1.13.9", input: { config: "machine:\n  type: worker\n" }, expected: { canonical: "version: v2\n" } }],
  };
  const report = await runGoldens({ kind: "encoding", readFile: () => JSON.stringify(index), keys, inspect: inspectCertificate, now });
  assert.equal(report.failed, 1);
  assert.match(report.differences[0]?.difference ?? "", /line 1: got "version: \\"\\""/);
});

test("a certificate with other properties is a difference", async () => {
  const readFile = (path: string): string => readFileSync(new URL(`pki/${path}`, root), "utf8");
  const golden = casesOf({ readFile }).find(({ id }) => id === "client-admin");
  assert.ok(golden !== undefined);
  const properties = golden.expected["properties"] as object;
  for (const [name, value] of Object.entries({ ext_key_usage: ["serverAuth"], subject_o: ["os:reader"], validity_hours: 1, is_ca: true })) {
    const changed = { ...golden, expected: { ...golden.expected, properties: { ...properties, [name]: value } } };
    const outcome = await runGolden(changed, { kind: "pki", readFile, keys, inspect: inspectCertificate, now });
    assert.match(outcome.status === "failed" ? outcome.difference : "", new RegExp(name));
  }
});
