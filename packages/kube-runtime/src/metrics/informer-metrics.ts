import type { InformerStatus } from "../watch/informer-types.ts";
import type { MetricsRegistry } from "./types.ts";

/** Shows how informers do each time the metrics are collected. Returns the way to end it. */
export function showInformers(
  registry: MetricsRegistry,
  read: () => readonly { readonly name: string; readonly status: InformerStatus }[],
): () => void {
  const gauge = (name: string, help: string) => registry.gauge({ name: `kube_runtime_informer_${name}`, help, labels: ["informer"] });
  const synced = gauge("synced", "1 once the first list is complete.");
  const objects = gauge("objects", "Objects in the cache.");
  const failures = gauge("failures", "Failures in a row since the last progress; 0 while it follows.");
  const lists = gauge("lists", "Lists completed since the start.");
  const watches = gauge("watches", "Watches opened since the start.");
  return registry.onCollect(() => {
    for (const { name, status } of read()) {
      const labels = { informer: name };
      synced.with(labels).set(status.isSynced ? 1 : 0);
      objects.with(labels).set(status.objects);
      failures.with(labels).set(status.failures);
      lists.with(labels).set(status.lists);
      watches.with(labels).set(status.watches);
    }
  });
}
