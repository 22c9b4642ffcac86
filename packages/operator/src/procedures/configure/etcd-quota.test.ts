import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigChange } from "@talos-operator/talos";
import { whyTooSmall } from "./etcd-quota.ts";
import { largerQuotaOf } from "./larger-quota.ts";
import { controlPlane, member, observed, running, silent } from "../../testing/builders.ts";
import { changedQuota } from "../../testing/config-change.ts";
import type { Look } from "../../model/look.ts";

const GIB = 2 ** 30;
const grows: readonly (readonly [string, readonly ConfigChange[], number | undefined])[] = [
  ["nothing that changes", [], undefined],
  ["one where there was none", [changedQuota(undefined, String(4 * GIB))], 4 * GIB],
  ["a larger one", [changedQuota(String(4 * GIB), String(8 * GIB))], 8 * GIB],
  ["the same as etcd takes by default", [changedQuota(undefined, String(2 * GIB))], undefined],
  ["a smaller one", [changedQuota(String(4 * GIB), String(3 * GIB))], undefined],
  ["one that is taken away, of less than the default", [changedQuota(String(GIB), undefined)], 2 * GIB],
  ["one that is taken away, of more than the default", [changedQuota(String(4 * GIB), undefined)], undefined],
  ["none at all any more", [changedQuota(String(4 * GIB), "-1")], Number.POSITIVE_INFINITY],
  ["the last of a list", [changedQuota('- "1"\n- "1073741824"', `- "1"\n- "${4 * GIB}"`)], 4 * GIB],
  ["what is no number", [changedQuota(undefined, "8GiB")], undefined],
  ["another argument", [changedQuota(undefined, String(4 * GIB), "cluster.etcd.extraArgs.snapshot-count")], undefined],
  ["one among others", [changedQuota("1", "2", "machine.nodeLabels.a"), changedQuota(undefined, String(4 * GIB))], 4 * GIB],
];
for (const [what, changes, want] of grows) test(`a quota that grows: ${what}`, () => assert.equal(largerQuotaOf({ changes }), want));

const file = (dbSizeBytes: number, dbInUseBytes: number): Look => running({ ...member(0, 1), dbSizeBytes, dbInUseBytes });
const large = file(3 * GIB, 3 * GIB);
const free = file(3 * GIB, GIB / 2);

const shrinks: readonly (readonly [string, Look, readonly ConfigChange[], RegExp | undefined])[] = [
  ["nothing that changes", large, [], undefined],
  [
    "a smaller one",
    large,
    [changedQuota(String(4 * GIB), String(GIB))],
    /^etcd would be full: in the quota of 1024 MiB that is asked for \(cluster\.etcd\.extraArgs\.quota-backend-bytes\) its file of 3072 MiB has no room; ask for a larger one$/,
  ],
  ["0, with which etcd takes 2 GiB", large, [changedQuota(String(4 * GIB), "0")], /in the quota of 2048 MiB/],
  ["one in another base", large, [changedQuota(String(4 * GIB), "0x100000")], /in the quota of 1 MiB/],
  ["one of a few bytes", large, [changedQuota(String(4 * GIB), "1")], /in the quota of 1 byte that/],
  ["one that is taken away", large, [changedQuota(String(4 * GIB), undefined)], /in the quota of 2048 MiB/],
  ["one where there was no limit", large, [changedQuota("-1", String(GIB))], /in the quota of 1024 MiB/],
  ["one that its file reaches nearly", large, [changedQuota(String(4 * GIB), String(Math.round(3.1 * GIB)))], /in the quota of 3174 MiB/],
  ["one in which its file has room", large, [changedQuota(String(8 * GIB), String(4 * GIB))], undefined],
  [
    "one in which only what is in use has room",
    free,
    [changedQuota(String(4 * GIB), String(GIB))],
    /; ask for a larger one, or have it defragmented first, talos-operator\.dev\/defragment: demo-10\.0\.0\.1 on the TalosControlPlane$/,
  ],
  ["a larger one, in which its file has no room either", large, [changedQuota(String(GIB), String(2 * GIB))], undefined],
  ["of a member that does not report its file", running({ ...member(0, 1) }), [changedQuota(String(4 * GIB), "1")], undefined],
  ["of a machine that does not answer", silent, [changedQuota(String(4 * GIB), "1")], undefined],
];
for (const [what, look, changes, want] of shrinks)
  test(`a quota without room: ${what}`, () => {
    const [machine] = observed({ controlPlane: controlPlane(1), looks: { "10.0.0.1": look } }).machines;
    assert.ok(machine !== undefined);
    const why = whyTooSmall(machine, { changes });
    if (want === undefined) assert.equal(why, undefined);
    else assert.match(why ?? "", want);
  });
