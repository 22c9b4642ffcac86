import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const module = pathToFileURL(resolve(import.meta.dirname, "collect-early.ts")).href;

/** A process of its own, which lets go of 64 MiB of buffers and then makes nothing that would have the engine look for garbage. */
function heldAfterwards(lines: string): { readonly external: number; readonly looks: number } {
  const script = `
    import { setTimeout as sleep } from "node:timers/promises";
    import { constants, PerformanceObserver } from "node:perf_hooks";
    import { collectEarly } from ${JSON.stringify(module)};
    // The engine looks for itself, too, once it has idled for seconds: those do not count.
    const FORCED = constants.NODE_PERFORMANCE_GC_FLAGS_FORCED;
    let looks = 0;
    new PerformanceObserver((list) => { looks += list.getEntries().filter(({ detail }) => (detail.flags & FORCED) !== 0).length; }).observe({ entryTypes: ["gc"] });
    let held = [];
    const fill = () => { held = Array.from({ length: 64 }, () => Buffer.alloc(2 ** 20, 1)); };
    ${lines}
    await sleep(0);
    process.stdout.write(JSON.stringify({ external: process.memoryUsage().arrayBuffers, looks }));
  `;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as { readonly external: number; readonly looks: number };
}

const MIB = 2 ** 20;

test("buffers that nobody holds any more are gone soon, without anything else that is made", () => {
  const { external } = heldAfterwards(`
    const end = collectEarly();
    fill(); held = [];
    while (looks === 0 || process.memoryUsage().arrayBuffers > 22 * ${MIB}) await sleep(5);
    end();
  `);
  assert.ok(external <= 22 * MIB, `${external} bytes`);
});

test("what is held is kept, and once it has ended nobody looks any more", () => {
  const { external, looks } = heldAfterwards(`
    const end = collectEarly();
    fill();
    while (looks === 0) await sleep(5);
    if (!held.every((one) => one[2 ** 19] === 1)) throw new Error("a buffer was lost");
    end();
    await sleep(50);
    looks = 0;
    await sleep(200);
  `);
  assert.deepEqual([external >= 64 * MIB, looks], [true, 0]);
});
