import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { openDataFolder } from "./data-folder.ts";
import { startSimulatedMachines } from "./simulated-machines.ts";

// Elsewhere only 127.0.0.1 is bound.
const skip = process.platform !== "linux";

it("a simulated machine that was shut down is switched on with the next start", { skip }, async () => {
  const path = mkdtempSync(join(tmpdir(), "talos-operator-machines-"));
  const start = () =>
    startSimulatedMachines({
      folder: openDataFolder(path),
      addresses: ["127.91.7.3"],
      talosVersion: "v1.13.9",
      pace: "instant",
      keys: createX509Keys(),
      log: createLogger({ level: "silent" }),
    });
  try {
    const first = await start();
    first.datacenter.machine("127.91.7.3").powerOff();
    await first.close();
    const second = await start();
    const { power } = second.datacenter.machine("127.91.7.3").state;
    await second.close();
    assert.equal(power, "on");
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});
