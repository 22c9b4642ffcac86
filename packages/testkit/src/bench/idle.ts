import { setTimeout as delay } from "node:timers/promises";
import { makeOne } from "./clusters.ts";
import { anonymousMib, createMemoryGroup } from "./memory-group.ts";
import { line, sum } from "./report.ts";
import { startBenchWorld } from "./world.ts";

const SHAPE = { controlPlanes: 3, workers: 3 };

/** The operator alone with one cluster (3 + 3) that is Ready: its memory, its processor time and its requests in `seconds` of idling. */
export async function benchIdle(
  seconds: number,
  options: { readonly bundled: boolean; readonly nodeOptions: readonly string[]; readonly apiNodeOptions?: readonly string[] },
): Promise<void> {
  const group = createMemoryGroup();
  try {
    await using world = await startBenchWorld({
      ...options,
      rsaPool: 2,
      machines: SHAPE.controlPlanes + SHAPE.workers,
      ...(group === undefined ? {} : { memoryGroup: group.procs }),
    });
    await makeOne(world.client, SHAPE);
    await delay(10_000);
    const [cpu, requests, calls] = [world.operatorCost().cpuSeconds, sum(world.apiRequests()), world.talosCalls().all];
    await delay(seconds * 1000);
    const memory =
      group === undefined
        ? `${anonymousMib(world.operatorPid).toFixed(1)} MiB anonymous; no memory cgroup can be made here`
        : `${group.chargedMib().toFixed(1)} MiB charged to its cgroup, at most ${group.peakMib().toFixed(1)}`;
    const perMinute = 60 / seconds;
    process.stdout.write(
      [
        `operator idle with one cluster (3 + 3), over ${seconds} s, ${options.bundled ? "bundled" : "from the sources"}`,
        line("memory", memory),
        line("processor time per minute", `${((world.operatorCost().cpuSeconds - cpu) * perMinute).toFixed(2)} s`),
        line("API requests per minute, without the lease", ((sum(world.apiRequests()) - requests) * perMinute).toFixed(1)),
        line("Talos calls per minute", ((world.talosCalls().all - calls) * perMinute).toFixed(1)),
        "",
      ].join("\n"),
    );
  } finally {
    group?.remove();
  }
}
