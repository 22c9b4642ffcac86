import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { kubeApiErrorCodes } from "./kube-api-error.ts";

it("has one entry with cause, effect and remedy for each code, and none besides", () => {
  const page = readFileSync(new URL("../../../../docs/reference/errors/kube-runtime.md", import.meta.url), "utf8");
  const entries = page.split(/^## /m).slice(1);
  assert.deepEqual(
    entries.map((entry) => entry.split("\n")[0]),
    [...kubeApiErrorCodes],
  );
  for (const entry of entries)
    for (const part of ["Cause:", "Effect:", "Remedy:"]) assert.ok(entry.includes(part), `${entry.split("\n")[0] ?? ""} lacks ${part}`);
});
