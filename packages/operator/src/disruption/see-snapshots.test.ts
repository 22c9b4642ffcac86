import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import type { TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { configured, controlPlane, facts, founded, member, observed, running } from "../testing/builders.ts";
import { snapshotsOf, withSnapshots } from "./see-snapshots.ts";
import type { SnapshotCaches } from "./see-snapshots.ts";
import type { Observed } from "../model/observation.ts";

const spec = (name: string) => ({ talosControlPlaneRef: { name }, backupStorage: { directory: {} } });
const apiVersion = "talos.alperen.cloud/v1alpha1";
const schedule = (name: string, of = "demo"): TalosEtcdBackupSchedule => ({
  apiVersion,
  kind: "TalosEtcdBackupSchedule",
  metadata: { namespace: "default", name },
  spec: { schedule: "0 2 * * *", backupTemplate: { spec: spec(of) } },
});
const backup = (name: string, of = "demo"): TalosEtcdBackup => ({
  apiVersion,
  kind: "TalosEtcdBackup",
  metadata: { namespace: "default", name },
  spec: spec(of),
});
const nobody = { get: () => undefined };

/** How often the caches are read. */
function caches(): { readonly caches: SnapshotCaches; readonly reads: () => number } {
  let count = 0;
  const listing = <T>(items: readonly T[]) => ({ store: { list: () => ((count += 1), items) } });
  const both = { schedules: listing([schedule("b"), schedule("a"), schedule("0", "other")]), backups: listing([backup("one")]) };
  return { caches: both as unknown as SnapshotCaches, reads: () => count };
}

function world(over: Parameters<typeof running>[1] = {}, alarm: object = {}): Observed {
  const looks = Object.fromEntries([0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running({ ...member(index, 3), ...alarm }, over)]));
  const known = facts({ bootstrapDone: founded, machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`)) });
  return observed({ controlPlane: controlPlane(3), facts: known, looks });
}

describe("backups are looked for", () => {
  const rest = world();
  const cases: readonly (readonly [string, Observed, boolean])[] = [
    ["not at rest", rest, false],
    ["where a control plane leaves", { ...rest, machines: rest.machines.slice(1), former: rest.machines.slice(0, 1) }, true],
    ["where one is to get another Talos", world({ version: "v1.12.0" }), true],
    ["where data differ", world({}, { alarms: ["x"], raised: [{ member: "1", kind: "corrupt" }] }), true],
    ["not where etcd is full", world({}, { alarms: ["x"], raised: [{ member: "1", kind: "no-space" }] }), false],
  ];
  for (const [what, seen, want] of cases)
    test(what, () => {
      const counted = caches();
      const { snapshots } = withSnapshots(seen, undefined, counted.caches, nobody);
      assert.deepEqual([counted.reads() > 0, snapshots !== undefined], [want, want]);
    });
});

test("of a namespace those of the control plane count, schedules by name", () => {
  const { schedules, backups } = snapshotsOf(
    "demo",
    [schedule("b"), schedule("a"), schedule("0", "other")],
    [backup("one"), backup("two", "other")],
    nobody,
  );
  assert.deepEqual(
    [schedules, backups].map((all) => (all as readonly TalosEtcdBackup[]).map(({ metadata }) => metadata.name)),
    [["a", "b"], ["one"]],
  );
});

describe("what is asked for before control planes are disturbed", () => {
  const annotated = (word: string | undefined) => (word === undefined ? {} : { annotations: { [annotations.snapshotBeforeRisk]: word } });
  for (const [own, ofCluster, want] of [
    [undefined, undefined, undefined],
    ["required", undefined, "required"],
    [undefined, "required", "required"],
    ["off", "required", "off"],
  ] as const)
    test(`is ${want ?? "not said"} by ${own ?? "no word"} on the control plane and ${ofCluster ?? "none"} on its cluster`, () => {
      const seen = { ...world(), controlPlane: controlPlane(3, {}, annotated(own)) };
      const metadata = { namespace: "default", name: "demo", ...annotated(ofCluster) };
      const cluster: TalosCluster = { apiVersion, kind: "TalosCluster", metadata };
      assert.equal(withSnapshots(seen, cluster, undefined, nobody).riskWord, want);
    });
});
