import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCallFailure, TalosDialer } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";
import { demoCluster, kinds, tell } from "./story.ts";

/** The first questions for the resource end with this code. */
function failing(type: RegExp, code: number, times: number): (real: TalosDialer) => TalosDialer {
  let left = times;
  return (real) =>
    withUnary(real, ({ channel }) => (method, request, options) => {
      const asked = (request as { readonly type?: string }).type ?? "";
      if (!type.test(asked) || left === 0) return channel.unary(method, request, options);
      left -= 1;
      const failure: TalosCallFailure = Object.assign(new Error("no answer"), { name: "TalosCallFailure" as const, code });
      return Promise.reject(failure);
    });
}

for (const code of [4, 7, 14])
  test(`S20: a machine whose UUID could not be read (code ${code}) is asked again before anything is written down of it`, () =>
    tell({ dialer: failing(/SystemInformation/, code, 3) }, async (world) => {
      await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
      await world.start();
      await world.untilReady();
      const record = (await world.get(kinds.record, "demo")) as unknown as {
        readonly spec: { readonly knownControlPlanes: readonly { readonly uuid: string; readonly macs: readonly string[] }[] };
      };
      const { hardware } = world.datacenter.machine("10.5.0.1").state;
      assert.deepEqual(
        record.spec.knownControlPlanes.map(({ uuid, macs }) => [uuid, macs]),
        [[hardware.uuid, [hardware.mac]]],
      );
    }));
