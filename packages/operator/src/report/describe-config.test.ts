import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigChange } from "@talos-operator/talos";
import { assess } from "../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../testing/builders.ts";
import { configHashOf } from "../procedures/configure/config-hash.ts";
import { asMade } from "../spec/fixed-properties.ts";
import { configConditions } from "./describe-config.ts";

const change = (path: string, over: Partial<ConfigChange> = {}): ConfigChange => ({
  document: "/v1alpha1/",
  path,
  change: "added",
  effect: "live",
  services: [],
  rebootsItself: false,
  reason: "a reason",
  before: undefined,
  after: "b",
  ...over,
});

/** What is said of three control planes that differ in these places from what is wanted. */
function told(changes: readonly ConfigChange[], configHash?: string): string | undefined {
  const plain = facts({ bootstrapDone: founded, cni: undefined });
  const pool = controlPlane(3);
  const looks = Object.fromEntries([0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running(member(index, 3))]));
  const { machines } = observed({ facts: plain, controlPlane: pool, looks });
  const known = machines.map(({ declared }) => ({ declared, settings: configHashOf(declared, asMade(pool.spec!, plain)) }));
  const seen = observed({
    controlPlane: pool,
    looks,
    facts: facts({
      ...plain,
      machines: known.map(({ declared: { address }, settings }) =>
        configured(address, "controlplane", "demo", { configHash: configHash ?? settings, appliedHash: "applied" }),
      ),
    }),
    configs: new Map(
      known.map(({ declared, settings }) => [
        declared.name,
        {
          kind: "known",
          at: NOW,
          settings,
          bootId: "boot-1",
          version: "v1.13.9",
          activeHash: "applied",
          changes,
          onDisk: "active",
        } as const,
      ]),
    ),
  });
  return configConditions(assess(seen)).find(({ type }) => type === "ConfigUpToDate")?.message;
}

test("what is never sent is told with what it holds up", () =>
  assert.match(
    told([change("cluster.clusterName", { effect: "forbidden" }), change("machine.sysctls"), change("machine.env")], "old") ?? "",
    /demo-10\.0\.0\.1: cluster\.clusterName \(forbidden: a reason\), which holds up machine\.sysctls, machine\.env;.* Set the paths back, and the rest is sent/,
  ));

test("what is never sent and stands alone holds up nothing", () =>
  assert.doesNotMatch(told([change("cluster.clusterName", { effect: "forbidden" })], "old") ?? "", /holds up/));

test("a change of imageCache is not told as another release's doing", () => {
  const cache = [change("machine.features.imageCache.localEnabled"), change("", { document: "v1alpha1/VolumeConfig/IMAGECACHE" })];
  const message = told(cache) ?? "";
  assert.match(message, /imageCache was changed since, .*: demo-10\.0\.0\.1, demo-10\.0\.0\.2, demo-10\.0\.0\.3: machine\.features/);
  assert.doesNotMatch(message, /This release/);
  assert.match(
    told([...cache, change("machine.sysctls")]) ?? "",
    /imageCache was changed since.* This release would write otherwise: [^;]*sysctls\./,
  );
});
