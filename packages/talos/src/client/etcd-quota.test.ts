import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { etcdFlagNumber, etcdQuotaBytes } from "./etcd-quota.ts";

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
    ["may be as large as 64 bits hold", ["9223372036854775807"], 2 ** 63],
    ["is not known with a number that 64 bits do not hold", ["9223372036854775808"], undefined],
    ["may be written in another base", ["0x80000000"], 2_147_483_648],
    ["is 2 GiB with 0 in another base", ["0x0"], 2_147_483_648],
  ] as const)
    test(what, () => assert.equal(etcdQuotaBytes(values === undefined ? {} : { "quota-backend-bytes": values }), want));
});

/** As etcd 3.6.14 shows in the first lines of its log, or ends with exit code 2. */
const flags: readonly (readonly [string, number | undefined])[] = [
  ["0x100000", 1_048_576],
  ["4_294_967", 4_294_967],
  ["0755", 493],
  ["0o17", 15],
  ["+5", 5],
  ["-1", -1],
  ["0_7", 7],
  ["0x_f", 15],
  ["0b11", 3],
  ["-9223372036854775808", -(2 ** 63)],
  ["-9223372036854775809", undefined],
  ["9223372036854775808", undefined],
  ["8Gi", undefined],
  ["", undefined],
  ["-", undefined],
  ["1__0", undefined],
  ["_1", undefined],
  ["09", undefined],
  ["4e9", undefined],
  ["1.5", undefined],
];
for (const [text, want] of flags)
  test(`etcd ${want === undefined ? "does not start with" : "reads"} a flag of ${JSON.stringify(text)}`, () =>
    assert.equal(etcdFlagNumber(text), want));
