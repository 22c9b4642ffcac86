import assert from "node:assert/strict";
import { test } from "node:test";
import { CliError } from "../cli-error.ts";
import { brokenVersionOf } from "./broken-version.ts";

test("the version that never gets healthy is named as machines write it, or is refused", () => {
  assert.deepEqual([undefined, "1.13.9", "v1.14.0-rc.1"].map(brokenVersionOf), [undefined, "v1.13.9", "v1.14.0-rc.1"]);
  for (const text of ["v1.13", "latest", "v1.13.6; rm -rf"])
    assert.throws(
      () => brokenVersionOf(text),
      (thrown) => thrown instanceof CliError && thrown.exitCode === 2,
    );
});
