import type { ProcessCost } from "./process.ts";

/** One line of a report: what it is, padded, and its figure. */
export function line(what: string, figure: string): string {
  return `  ${what.padEnd(42)} ${figure}`;
}

/** `12.3 CPU-s, of them 4.0 RSA keys; peak 120 MiB` */
export function costText(cost: ProcessCost, clusters: number): string {
  const rest = cost.cpuSeconds - cost.poolCpuSeconds;
  return (
    `${cost.cpuSeconds.toFixed(1)} CPU-s: RSA keys ${cost.poolCpuSeconds.toFixed(1)}, ` +
    `all else ${rest.toFixed(1)} (${((rest / clusters) * 1000).toFixed(0)} ms a cluster); peak ${cost.peakMib.toFixed(0)} MiB`
  );
}

/** The requests per cluster, in sum and the most frequent. */
export function requestLines(requests: ReadonlyMap<string, number>, clusters: number): readonly string[] {
  const most = [...requests].toSorted((a, b) => b[1] - a[1]).slice(0, 12);
  return [
    line("API requests of the operator per cluster", (sum(requests) / clusters).toFixed(1)),
    ...most.map(([what, count]) => `    ${(count / clusters).toFixed(1).padStart(6)}  ${what}`),
  ];
}

/** Of all together. */
export function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

/** Talos calls per machine, and per control plane those that change something. */
export function callLines(
  calls: { readonly all: number; readonly mutating: number },
  machines: number,
  controlPlanes: number,
): readonly string[] {
  return [
    line("Talos calls per machine", (calls.all / machines).toFixed(1)),
    line("mutating Talos calls per control plane", `at most ${(calls.mutating / controlPlanes).toFixed(2)} (workers' counted in)`),
  ];
}
