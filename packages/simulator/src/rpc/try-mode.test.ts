import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosClient } from "@talos-operator/talos/client";
import { createTestWorld } from "../testing/world.ts";

const address = "10.5.0.1";
const TRY_MS = 60_000;

/** What a node runs some time after a TRY and another call: `tried`, or what ran before it. As recorded from genuine nodes of Talos 1.13. */
async function runsAfter(during: (client: TalosClient, text: string) => Promise<unknown>): Promise<string> {
  const world = await createTestWorld([{ address }]);
  await world.apply(address, "controlplane");
  await world.time.advance(60_000);
  const client = await world.client(address, "os:admin");
  const cell = world.datacenter.machine(address);
  const before = cell.state.config.active ?? "";
  const tried = `# tried\n${before}`;
  await client.applyConfiguration({ config: tried, mode: "try", tryTimeoutMs: TRY_MS });
  await world.time.advance(TRY_MS / 2);
  await during(client, before);
  assert.equal(cell.state.config.active, tried);
  await world.time.advance(3 * TRY_MS);
  assert.equal(cell.state.config.persisted?.includes("# tried"), false);
  return cell.state.config.active === tried ? "tried" : cell.state.config.active === before ? "before" : "another";
}

describe("what is tried", () => {
  test("is reverted when its time is over", async () => assert.equal(await runsAfter(() => Promise.resolve()), "before"));

  for (const mode of ["auto", "no-reboot", "staged"] as const)
    test(`stays for good after a dry run of mode ${mode}`, async () =>
      assert.equal(await runsAfter((client, config) => client.applyConfiguration({ config, mode, dryRun: true })), "tried"));

  test("is reverted all the same after a dry run of mode try", async () =>
    assert.equal(await runsAfter((client, config) => client.applyConfiguration({ config, mode: "try", dryRun: true })), "before"));

  test("stays for good after another configuration that is staged, or refused", async () => {
    assert.equal(await runsAfter((client, config) => client.applyConfiguration({ config, mode: "staged" })), "tried");
    const refused = (client: TalosClient): Promise<unknown> =>
      assert.rejects(client.applyConfiguration({ config: "machine: [", mode: "no-reboot", dryRun: true }));
    assert.equal(await runsAfter(refused), "tried");
  });

  test("stays for good when it is tried a second time: the revert goes to what was tried", async () =>
    assert.equal(
      await runsAfter((client, config) => client.applyConfiguration({ config: `# tried\n${config}`, mode: "try", tryTimeoutMs: TRY_MS })),
      "tried",
    ));
});
