import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { errorIndex } from "./reference.ts";

const reference = new URL("../../../docs/reference/", import.meta.url);
const index = readFileSync(new URL("errors.md", reference), "utf8");

describe("the index of error codes", () => {
  it("lists every code of every page, with a link to it", () => {
    const text = "# Errors of a\n\n## ONE_CODE\n\n- Cause: x\n\n## TWO\n";
    assert.match(
      errorIndex([{ file: "a.md", text }]),
      /## \[a\]\(errors\/a\.md\)\n\n\[ONE_CODE\]\(errors\/a\.md#one_code\), \[TWO\]\(errors\/a\.md#two\)\n$/,
    );
  });

  it("is current both ways: no page or code is missing from it, and it names none that is gone", () => {
    const written = readdirSync(new URL("errors/", reference)).flatMap((file) =>
      [...readFileSync(new URL(`errors/${file}`, reference), "utf8").matchAll(/^## (.+)$/gm)].map(
        ([, code = ""]) => `${file}#${code.toLowerCase()}`,
      ),
    );
    const listed = [...index.matchAll(/\]\(errors\/([^)]+#[^)]+)\)/g)].map(([, link = ""]) => link);
    assert.ok(written.length > 50);
    assert.deepEqual(listed.toSorted(), written.toSorted());
  });
});
