import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import { demoCluster, kinds, tell } from "./story.ts";
import { ask, failed, pending, ready, upgraded, versionAt } from "./upgrades.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const worker = "10.5.0.4";

/** Five minutes in which a machine has to be well. */
const quick = { timings: demoTimings, operator: { upgradeWithinMs: 300_000 } };

/** Nobody is well with v1.13.10 from now on, and no machine goes back from it. */
function broken(world: Story): void {
  world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
  world.datacenter.inject({ method: "Rollback", effect: { kind: "error", code: 13, message: "no other boot entry" } });
}

/** The machine runs what failed on it; asks for the next version and waits until it runs everywhere, and was sent in this order. */
async function another(world: Story, address: string, order: readonly string[]): Promise<void> {
  await failed(world);
  await world.time.advance(400_000);
  assert.equal(versionAt(world, address), "v1.13.10");
  assert.match(
    (await pending(world))?.message ?? "",
    new RegExp(`failed on demo-${address.replaceAll(".", "\\.")} .*[Aa]sk for another version`),
  );
  const sent = world.sent.length;
  await ask(world, "v1.13.11");
  await upgraded(world, "v1.13.11", order, 900);
  const calls = world.sent.slice(sent).filter((call) => call.startsWith("Upgrade "));
  assert.deepEqual(
    calls,
    order.map((one) => `Upgrade ${one}`),
  );
  assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
}

describe("a machine that a Talos broke and that does not go back gets the next version that is asked for, before the others of its role", () => {
  test("as a control plane", () =>
    tell(quick, async (world) => {
      await ready(world, demoCluster(cps, [worker]));
      broken(world);
      await ask(world, "v1.13.10");
      await another(world, "10.5.0.2", ["10.5.0.2", "10.5.0.3", "10.5.0.1", worker]);
    }));

  test("as a worker", () =>
    tell(quick, async (world) => {
      await ready(world, demoCluster(["10.5.0.1"], ["10.5.0.3", worker]));
      await ask(world, "v1.13.10", ["controlPlane"]);
      await upgraded(world, "v1.13.10", ["10.5.0.1"]);
      await ask(world, "v1.13.10");
      await world.until(
        "the first is",
        async () =>
          (await world.get(kinds.record))?.spec?.["openWorkerIntents"] === undefined && versionAt(world, "10.5.0.3") === "v1.13.10",
        3_600,
      );
      broken(world);
      await another(world, worker, ["10.5.0.1", worker, "10.5.0.3"]);
    }));
});
