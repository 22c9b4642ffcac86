import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { line } from "./report.ts";
import { startFleetWorld, untilAtRest, type FleetOptions } from "./ready-fleet.ts";
import type { AnsweredCall } from "./world.ts";

/** Several rounds of looks: in a minute it depends on how the first ones fell how many are counted. Seconds. */
const WINDOW_S = 240;

/** B3: the operator beside healthy clusters (3 + 2) that nobody touches: what it costs to know that they are well. */
export async function benchSteady(clusters: number, options: FleetOptions): Promise<void> {
  await using world = await startFleetWorld(clusters, options);
  const settledAfter = await untilAtRest(world);
  const before = { cpu: world.operatorCost().cpuSeconds, requests: world.apiRequests(), calls: world.talosCalls() };
  const callsBefore = callsByMethod(world.calls());
  await delay(WINDOW_S * 1000);
  const cost = world.operatorCost();
  const after = world.apiRequests();
  const calls = world.talosCalls();
  const perMinute = 60 / WINDOW_S;
  const byMethod = [...callsByMethod(world.calls())]
    .map(([method, count]) => [method, count - (callsBefore.get(method) ?? 0)] as const)
    .filter(([, count]) => count > 0);
  const requests = [...after]
    .map(([what, count]) => [what, count - (before.requests.get(what) ?? 0)] as const)
    .filter(([, count]) => count > 0);
  const sum = requests.reduce((total, [, count]) => total + count, 0);
  process.stdout.write(
    [
      `${clusters} healthy clusters (3 + 2), ${clusters * 5} machines, over ${WINDOW_S} s; all were looked at after ${settledAfter.toFixed(0)} s`,
      line("processor time, of one core", `${(((cost.cpuSeconds - before.cpu) / WINDOW_S) * 100).toFixed(2)} %`),
      line("API requests per minute, without the lease", (sum * perMinute).toFixed(1)),
      ...requests.map(([what, count]) => `    ${(count * perMinute).toFixed(1).padStart(6)}  ${what}`),
      line("Talos calls per minute", ((calls.all - before.calls.all) * perMinute).toFixed(0)),
      ...byMethod.map(([method, count]) => `    ${(count * perMinute).toFixed(1).padStart(6)}  ${method}`),
      line("of them such that change something", String(calls.mutating - before.calls.mutating)),
      line("memory now; at most", `${residentMib(world.operatorPid).toFixed(0)} MiB; ${cost.peakMib.toFixed(0)} MiB`),
      line("sockets", String(socketsOf(world.operatorPid))),
      "",
    ].join("\n"),
  );
}

/** `MachineService/Version` → how often. */
function callsByMethod(calls: readonly AnsweredCall[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of calls) {
    const method = path.replace(/^.*\.(?=[^.]+$)/, "");
    counts.set(method, (counts.get(method) ?? 0) + 1);
  }
  return counts;
}

/** Resident now, program text included. */
function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Open sockets of a process. */
function socketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:");
    } catch {
      // Closed while it was counted.
      return false;
    }
  }).length;
}
