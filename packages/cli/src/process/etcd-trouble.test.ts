import assert from "node:assert/strict";
import { test } from "node:test";
import { CliError } from "../cli-error.ts";
import { etcdTroubleOf, etcdTroubles } from "./etcd-trouble.ts";

test("a trouble of etcd is named by its word, or refused with those that there are", () => {
  assert.deepEqual([undefined, ...etcdTroubles].map(etcdTroubleOf), [undefined, ...etcdTroubles]);
  for (const word of ["", "FULL", "constructor"])
    assert.throws(
      () => etcdTroubleOf(word),
      (thrown) => thrown instanceof CliError && thrown.exitCode === 2 && thrown.remedy.includes("corrupt-majority"),
    );
});
