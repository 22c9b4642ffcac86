import type { MetricsRegistry } from "../metrics/types.ts";

/** Adds what Prometheus expects of every process (`process_*`) and the size of the heap. Returns the way to end it. */
export function showProcess(registry: MetricsRegistry): () => void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help }).with();
  const memory = gauge("process_resident_memory_bytes", "Resident memory.");
  const heap = gauge("nodejs_heap_size_used_bytes", "Used part of the JavaScript heap.");
  const cpu = registry.counter({ name: "process_cpu_seconds_total", help: "User and system time used." }).with();
  gauge("process_start_time_seconds", "When the process started, seconds since the epoch.").set(
    Math.round((performance.timeOrigin / 1000) * 1000) / 1000,
  );
  let counted = 0;
  return registry.onCollect(() => {
    const { user, system } = process.cpuUsage();
    const used = (user + system) / 1e6;
    cpu.add(Math.max(0, used - counted));
    counted = used;
    memory.set(process.memoryUsage.rss());
    heap.set(process.memoryUsage().heapUsed);
  });
}
