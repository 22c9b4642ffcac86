import assert from "node:assert/strict";
import { readFileSync, globSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

/** Sentences and what is read of a text, in one expression. */
const READS = [
  /\b(?:message|why|words|detail|says|note|evidence)\b(?: \?\? "")?\)?\??\.(?:includes|startsWith|endsWith|match|matchAll|search|indexOf|split)\((?!undefined)/,
  /\.(?:exec|test)\([^)]*\b(?:message|why|detail|said|says|note|evidence)\b/,
];

/** Who reads sentences all the same, and what of. */
const MAY: Readonly<Record<string, string>> = {
  "record/read-before.ts": "the release before",
  "report/about.ts": "the words that it makes a sentence of",
  "composition/kubernetescluster/undeclared.ts": "the API server, which has no other word for it",
  "config/advice.ts": "the library of Talos configs, and Talos, which have no other word for it",
  "config/wrong-type-words.ts": "the library of Talos configs, which says in words what type a field has",
  "config/check.ts": "the library of Talos configs, which says in words where something is wrong",
  "procedures/upgrade/pull-words.ts": "the machine, which has no other word for why it has no image",
  "workload/evict.ts": "the API server, which has no other word for it",
  "controllers/shared/outlook.ts": "what would be said twice",
  "explaining/print-explanation.ts": "what would be said twice",
  "explaining/what-stands.ts": "the first sentence, which is for one line",
  "report/headline.ts": "what would be said twice",
};

const readers = (texts: ReadonlyMap<string, string>): readonly string[] =>
  [...texts].flatMap(([file, text]) => (READS.some((reads) => reads.test(text)) ? [file] : []));

test("nobody reads a sentence but who has to", () => {
  const files = globSync("**/*.ts", { cwd: fileURLToPath(root) }).filter((file) => !/(\.test|\.real-test)\.ts$|^testing\//.test(file));
  assert.ok(files.length > 400, `read ${files.length} files`);
  const texts = new Map(files.map((file) => [file, readFileSync(new URL(file, root), "utf8")]));
  assert.deepEqual(
    readers(texts).filter((file) => !(file in MAY)),
    [],
  );
  assert.deepEqual(
    Object.keys(MAY).filter((file) => !readers(texts).includes(file)),
    [],
    "these read none any more",
  );
});
