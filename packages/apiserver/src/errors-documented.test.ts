import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { apiServerErrorCodes } from "./api-server-error.ts";

it("documents every error code with cause, effect and remedy, and no other", () => {
  const page = readFileSync(new URL("../../../docs/reference/errors/apiserver.md", import.meta.url), "utf8");
  const sections = page.split(/^## /m).slice(1);
  assert.deepEqual(new Set(sections.map((section) => section.split("\n")[0])), new Set(apiServerErrorCodes));
  for (const section of sections) assert.match(section, /- Cause: .+\n(?:.|\n)*- Effect: .+\n(?:.|\n)*- Remedy: .+/);
});
