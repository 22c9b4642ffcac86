import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, observed, running, silent } from "../testing/builders.ts";
import type { Look, SeenEtcd } from "../model/look.ts";

const idOf = (n: number): string => String(n).padStart(16, "0");
const full = (...members: readonly number[]): Partial<SeenEtcd> => ({
  alarms: members.map(() => "x"),
  raised: members.map((n) => ({ member: idOf(n), kind: "no-space" })),
});

/** What EtcdHealthy says when each control plane tells this; `undefined` = it does not answer. */
function saidOf(told: readonly (Partial<SeenEtcd> | undefined)[]): string {
  const looks: Record<string, Look> = Object.fromEntries(
    told.map((etcd, index) => [
      `10.0.0.${index + 1}`,
      etcd === undefined ? silent : running({ ...member(index, told.length), dbSizeBytes: 9, dbInUseBytes: 9, ...etcd }),
    ]),
  );
  const machines = told.map((_, index) => configured(`10.0.0.${index + 1}`, "controlplane", "demo", { memberId: idOf(index + 1) }));
  const known = facts({ bootstrapDone: founded, machines });
  return assess(observed({ controlPlane: controlPlane(told.length), facts: known, looks })).health.message;
}

describe("an etcd that is full names the machines that raised the alarm", () => {
  for (const [what, told, want] of [
    [
      "at the first look, before a quota is known",
      [full(2), {}, full(2)],
      /NOSPACE on demo-10\.0\.0\.2\).*: the size and the quota of every file/,
    ],
    ["all that are full", [full(1, 3), full(1, 3), full(1, 3)], /NOSPACE on demo-10\.0\.0\.1, demo-10\.0\.0\.3\)/],
    [
      "three of five, and how many more",
      Array.from({ length: 5 }, () => full(1, 2, 3, 4, 5)),
      /10\.0\.0\.1, demo-10\.0\.0\.2, demo-10\.0\.0\.3 and 2 more\)/,
    ],
    ["one that does not answer any more", [full(3), full(3), undefined], /NOSPACE on demo-10\.0\.0\.3\)/],
    ["else whoever reports an alarm of nobody's", [{}, full(9), {}], /NOSPACE reported by demo-10\.0\.0\.2\)/],
  ] as const)
    test(what, () => assert.match(saidOf(told), want));
});

test("an etcd without an alarm is not called full", () => assert.match(saidOf([{}, {}, {}]), /all healthy/));
