// Genuine parts: talosctl
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { instantTimings } from "@talos-operator/simulator";
import type { Platform } from "@talos-operator/simulator";
import { containerDocuments, containerMachines } from "./container-documents.ts";
import { apply } from "./quiet.ts";
import { kinds, tell } from "./story.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"];
const run = promisify(execFile);

/** What the operator sends is what the genuine `talosctl validate --strict` takes, for the mode that the machine runs in. */
describe("configurations on machines, read by the genuine talosctl", () => {
  for (const { platform, talosVersion } of [
    { platform: "container", talosVersion: "v1.13.9" },
    { platform: "metal", talosVersion: "v1.13.9" },
    { platform: "container", talosVersion: "v1.12.11" },
    { platform: "metal", talosVersion: "v1.12.11" },
  ] satisfies readonly { readonly platform: Platform; readonly talosVersion: string }[])
    test(`Talos ${talosVersion} on ${platform}`, async () => {
      assert.ok(tools !== undefined, "TALOS_OPERATOR_TOOLS names the folder of the genuine tools: use npm run test:real");
      const machines = containerMachines.map(({ address }) => ({ address, talosVersion, platform }));
      await tell({ machines, timings: { ...instantTimings, kubeletMs: 1e9 } }, async (world) => {
        await apply(world, kinds.controlPlane, containerDocuments.controlPlane);
        await apply(world, kinds.worker, containerDocuments.worker);
        await world.start();
        await world.until("NodesNotReady", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "NodesNotReady");
        const folder = await mkdtemp(join(tmpdir(), "talos-operator-configs-"));
        try {
          for (const { address } of machines) {
            const file = join(folder, `${address}.yaml`);
            await writeFile(file, world.datacenter.machine(address).state.config.active ?? "");
            const { stdout, stderr } = await run(join(tools, "talosctl"), ["validate", "--mode", platform, "--strict", "--config", file]);
            assert.match(`${stdout}${stderr}`, new RegExp(`is valid for ${platform} mode`));
          }
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      });
    });
});
