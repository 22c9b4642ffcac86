import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosClusterAddonRelease } from "@talos-operator/api";
import { driftAfterApply, driftDueIn } from "./drift.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-05-01T12:00:00Z");
const release = (uid: string, status: TalosClusterAddonRelease["status"] = {}): TalosClusterAddonRelease => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosClusterAddonRelease",
  metadata: { namespace: "default", name: "web", uid },
  spec: { clusterRef: { name: "demo" }, drift: { mode: "report", interval: "1h" } },
  status,
});

describe("the next comparison", () => {
  test("is an interval away at least, up to a tenth more, and of a hundred releases spread", () => {
    const dues = Array.from({ length: 100 }, (_, index) => {
      const next = Date.parse(driftAfterApply(release(`u-${index}`), NOW)?.nextCheckTime ?? "");
      return (next - NOW) / HOUR;
    });
    assert.ok(
      dues.every((hours) => hours >= 1 && hours <= 1.1 + 1 / 3_600),
      `${Math.min(...dues)} to ${Math.max(...dues)} hours`,
    );
    assert.ok(new Set(dues).size > 50);
  });

  test("is at once after a clock was set back, or the interval was made shorter", () => {
    const drift = { checkTime: "2026-05-01T12:00:00Z", nextCheckTime: "2026-05-02T12:00:00Z" };
    assert.equal(driftDueIn(release("u-1", { drift }), NOW), 0);
  });
});
