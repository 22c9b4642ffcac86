import type { ConfigMap } from "../document/value.ts";
import { sortedByBytes } from "../yaml/key-order.ts";
import { textAt, textsAt } from "./access.ts";
import type { Report } from "./report.ts";
import { quoted } from "./text/quote.ts";

/** Containers may wait for each other, for those that are configured, and never in a circle. */
export function checkContainerDependencies(containers: readonly ConfigMap[], report: Report): void {
  const waitsFor = new Map<string, readonly string[]>();
  for (const container of containers) waitsFor.set(textAt(container, "name"), textsAt(container, "dependsOn", "containers"));
  for (const container of containers) {
    const name = textAt(container, "name");
    for (const other of waitsFor.get(name) ?? []) {
      report.errorIf(!waitsFor.has(other), `container ${quoted(name)} depends on container ${quoted(other)}, which is not configured`);
    }
  }
  const circles = circlesOf(waitsFor);
  report.errorIf(circles.length > 0, `container dependsOn cycle detected: ${circles.join(", ")}`);
}

/** Each circle as Talos writes it, from the container where it closes: `a -> b -> a`. */
function circlesOf(waitsFor: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const circles = new Map<string, true>();
  const visit = (name: string, way: readonly string[]): void => {
    if (done.has(name) || !waitsFor.has(name)) return;
    const from = way.indexOf(name);
    if (from >= 0) {
      circles.set([...way.slice(from), name].join(" -> "), true);
      return;
    }
    for (const other of waitsFor.get(name) ?? []) visit(other, [...way, name]);
    done.add(name);
  };
  for (const name of sortedByBytes(waitsFor).keys()) visit(name, []);
  return [...sortedByBytes(circles).keys()];
}
