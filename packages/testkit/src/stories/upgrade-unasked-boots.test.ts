import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterRecord } from "@talos-operator/api";
import { demoTimings } from "@talos-operator/simulator";
import { kinds, tell } from "./story.ts";
import { all, ask, failed, ready, sentTo, upgraded, versions } from "./upgrades.ts";
import type { Story } from "./story.ts";

const record = async (world: Story): Promise<ClusterRecord | undefined> =>
  (await world.get(kinds.record)) as unknown as ClusterRecord | undefined;

const first = "10.5.0.2";

/** The operator dies while another Talos is installed on the first machine, whose power fails before somebody else takes over. */
async function interrupted(world: Story): Promise<number> {
  const sent = await ready(world);
  await ask(world, "v1.13.10");
  await world.until("installing", async () => world.sent.includes(`Upgrade ${first}`), 600);
  await world.kill();
  await world.time.advance(60_000);
  world.datacenter.machine(first).powerCycle();
  await world.time.advance(60_000);
  await world.start();
  return sent;
}

const installedOn = (found: Awaited<ReturnType<typeof record>>): string | undefined =>
  found?.spec.knownControlPlanes?.find(({ address }) => address === first)?.installedTalos?.version;

describe("a machine that boots without being asked when another Talos is installed on it", () => {
  test("is judged as if it had been, and the others follow", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await interrupted(world);
      await upgraded(world, "v1.13.10");
      assert.deepEqual(sentTo(world, sent, "Upgrade").toSorted(), all);
      assert.deepEqual(
        sentTo(world, sent, "Reboot").toSorted(),
        all.filter((address) => address !== first),
      );
      assert.equal(installedOn(await record(world)), undefined);
    }));

  test("goes back where it does not get well, and no other one is touched", () =>
    tell({ timings: demoTimings }, async (world) => {
      world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
      const sent = await interrupted(world);
      await failed(world);
      await world.untilReady(1_800);
      assert.deepEqual(versions(world), ["v1.13.9"]);
      assert.deepEqual([sentTo(world, sent, "Upgrade"), sentTo(world, sent, "Rollback")], [[first], [first]]);
      assert.deepEqual(
        (await record(world))?.spec.quarantine?.map(({ version, machine }) => [version, machine]),
        [["v1.13.10", `demo-${first}`]],
      );
    }));
});
