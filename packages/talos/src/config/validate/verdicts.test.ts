import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { legacyKind } from "../document-identity.ts";
import { schemaOf, type Generation } from "../schema/notation.ts";
import { hasDocumentRule, kindsWithoutRules } from "./documents/rules.ts";
import { validateMachineConfig, type RuntimeMode } from "./validate.ts";

interface Verdict {
  readonly report: string | null;
  readonly warnings: readonly string[];
}

interface Recorded {
  readonly talos: Generation;
  readonly config: string;
  /** What Talos says, by mode and strictness. What is not here is as on metal, lenient. */
  readonly verdicts: Readonly<Record<string, Verdict>> & { readonly "metal lenient": Verdict };
}

/** Answers of Talos 1.13.9 and of its main branch after 1.14.0-beta.1 (ad8823176e75) to configs made of right and wrong values. */
const recorded = JSON.parse(readFileSync(new URL("../../../testdata/validate/verdicts.json", import.meta.url), "utf8")) as Recorded[];

const modes: readonly RuntimeMode[] = ["metal", "cloud", "container"];

test("recorded configs get word for word the verdict of Talos, on every mode, strict and not", () => {
  assert.ok(recorded.length > 300);
  for (const { talos, config, verdicts } of recorded) {
    for (const mode of modes) {
      for (const strict of [false, true]) {
        const { report, warnings } = validateMachineConfig(config, { mode, strict, contract: talos });
        const wanted = verdicts[`${mode} ${strict ? "strict" : "lenient"}`] ?? verdicts["metal lenient"];
        assert.deepEqual({ report: report ?? null, warnings }, wanted, `${talos}, ${mode}, strict ${strict}:\n${config}`);
      }
    }
  }
});

test("the rules of every kind that has some are among the recorded verdicts", () => {
  const seen = new Set(recorded.map(({ config }) => /^kind: (\w+)$/m.exec(config)?.[1] ?? legacyKind));
  const kinds = schemaOf("1.13").kinds.filter((kind) => kind !== legacyKind && hasDocumentRule(kind));
  assert.deepEqual(
    kinds.filter((kind) => !seen.has(kind)),
    [],
  );
});

for (const generation of ["1.13", "1.14"] as const) {
  test(`every kind of Talos ${generation} has rules, or is known to need none`, () => {
    const kinds = schemaOf(generation).kinds.filter((kind) => kind !== legacyKind);
    assert.deepEqual(
      kinds.filter((kind) => hasDocumentRule(kind) === kindsWithoutRules.has(kind)),
      [],
    );
  });
}
