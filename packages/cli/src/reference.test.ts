import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { it } from "node:test";

const root = new URL("../../../", import.meta.url);

it("explains every error code of every package on a page that the index links, and no code that is gone", async () => {
  const sources = globSync("packages/*/src/**/error-reference.ts", { cwd: root });
  const references = await Promise.all(
    sources.map(
      async (source) => (await import(new URL(source, root).href)) as { errorReference: { page: string; codes: Record<string, unknown> } },
    ),
  );
  const written = references.flatMap(({ errorReference: { page, codes } }) =>
    Object.keys(codes).map((code) => `${page}.md#${code.toLowerCase()}`),
  );
  const index = readFileSync(new URL("docs/reference/errors.md", root), "utf8");
  const listed = [...index.matchAll(/\]\(errors\/([^)]+#[^)]+)\)/g)].map(([, link = ""]) => link);
  assert.ok(written.length > 50);
  assert.deepEqual(listed.toSorted(), written.toSorted());
});
