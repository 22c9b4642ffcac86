import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { etcdQuotaBytes } from "./etcd-quota.ts";

describe("the quota of an etcd by its arguments", () => {
  for (const [what, values, want] of [
    ["is 2 GiB without one", undefined, 2_147_483_648],
    ["is 2 GiB with 0", ["0"], 2_147_483_648],
    ["is 2 GiB where nothing is listed", [], 2_147_483_648],
    ["is what is given", ["8589934592"], 8_589_934_592],
    ["is what is given last", ["1", "8589934592"], 8_589_934_592],
    ["may be above what etcd advises", ["17179869184"], 17_179_869_184],
    ["is none with a negative number", ["-1"], Number.POSITIVE_INFINITY],
    ["is not known with a word", ["8GiB"], undefined],
    ["is not known with nothing", [""], undefined],
    ["is not known with a number that is not exact here", ["9223372036854775807"], undefined],
  ] as const)
    test(what, () => assert.equal(etcdQuotaBytes(values === undefined ? {} : { "quota-backend-bytes": values }), want));
});
