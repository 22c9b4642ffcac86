import type { Counter, Gauge, Histogram, HistogramSpec, MetricFamily, MetricLabels, MetricSpec, MetricsRegistry } from "./types.ts";

/** Content type of {@link MetricsRegistry.text}. */
export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

type Kind = "counter" | "gauge" | "histogram";

interface Family {
  readonly kind: Kind;
  readonly spec: MetricSpec;
  readonly series: Map<string, { readonly handle: unknown; lines(): readonly string[] }>;
}

/**
 * An empty registry.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function createMetricsRegistry(): MetricsRegistry {
  const families = new Map<string, Family>();
  const refreshers = new Set<() => void>();

  function family<M>(kind: Kind, spec: MetricSpec, make: (labels: string) => { handle: M; lines(): readonly string[] }): MetricFamily<M> {
    const known = families.get(spec.name) ?? { kind, spec, series: new Map() };
    checkFamily(known, kind, spec);
    families.set(spec.name, known);
    return {
      with(labels = {}) {
        const text = labelText(spec, labels);
        const found = known.series.get(text) ?? make(text);
        known.series.set(text, found);
        return found.handle as M;
      },
      clear: () => known.series.clear(),
    };
  }

  return {
    counter: (spec) =>
      family<Counter>("counter", spec, (labels) => {
        let value = 0;
        const add = (amount = 1): void => {
          if (!(amount >= 0)) throw new RangeError(`the counter ${spec.name} only grows; it cannot take ${amount}`);
          value += amount;
        };
        return { handle: { add }, lines: () => [`${spec.name}${braces(labels)} ${numberText(value)}`] };
      }),
    gauge: (spec) =>
      family<Gauge>("gauge", spec, (labels) => {
        let value = 0;
        const set = (to: number): void => {
          value = to;
        };
        return { handle: { set }, lines: () => [`${spec.name}${braces(labels)} ${numberText(value)}`] };
      }),
    histogram(spec: HistogramSpec) {
      if (spec.buckets.some((bound, index) => index > 0 && !(bound > (spec.buckets[index - 1] ?? Infinity)))) {
        throw new RangeError(`the buckets of ${spec.name} must grow`);
      }
      return family<Histogram>("histogram", spec, (labels) => histogramSeries(spec, labels));
    },
    onCollect(refresh) {
      refreshers.add(refresh);
      return () => void refreshers.delete(refresh);
    },
    text() {
      for (const refresh of refreshers) refresh();
      const blocks = [...families.values()]
        .filter((one) => one.series.size > 0)
        .map(({ kind, spec, series }) => [
          `# HELP ${spec.name} ${spec.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
          `# TYPE ${spec.name} ${kind}`,
          ...[...series.values()].flatMap((one) => one.lines()),
          "",
        ]);
      return blocks.flatMap((lines) => lines.join("\n")).join("");
    },
  };
}

function histogramSeries(spec: HistogramSpec, labels: string): { handle: Histogram; lines(): readonly string[] } {
  const counts = spec.buckets.map(() => 0);
  let sum = 0;
  let count = 0;
  const line = (suffix: string, extra: string, value: number): string =>
    `${spec.name}${suffix}${braces([labels, extra].filter((part) => part !== "").join(","))} ${numberText(value)}`;
  return {
    handle: {
      observe(value) {
        sum += value;
        count += 1;
        const bucket = spec.buckets.findIndex((bound) => value <= bound);
        if (bucket >= 0) counts[bucket] = (counts[bucket] ?? 0) + 1;
      },
    },
    lines() {
      let below = 0;
      const buckets = spec.buckets.map((bound, index) => {
        below += counts[index] ?? 0;
        return line("_bucket", `le="${numberText(bound)}"`, below);
      });
      return [...buckets, line("_bucket", 'le="+Inf"', count), line("_sum", "", sum), line("_count", "", count)];
    },
  };
}

function checkFamily(known: Family, kind: Kind, spec: MetricSpec): void {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(spec.name)) throw new RangeError(`"${spec.name}" is no name of a metric`);
  for (const label of spec.labels ?? []) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label) || label === "le") throw new RangeError(`"${label}" is no name of a label`);
  }
  const isSame = known.kind === kind && (known.spec.labels ?? []).join(",") === (spec.labels ?? []).join(",");
  if (!isSame) throw new RangeError(`the metric ${spec.name} exists already as another kind or with other labels`);
}

function labelText(spec: MetricSpec, labels: MetricLabels): string {
  const names = spec.labels ?? [];
  if (Object.keys(labels).length !== names.length) throw new RangeError(`the metric ${spec.name} has the labels ${names.join(", ")}`);
  return names
    .map((name) => {
      const value = labels[name];
      if (value === undefined) throw new RangeError(`the metric ${spec.name} needs the label ${name}`);
      return `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
    })
    .join(",");
}

function braces(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  return Number.isNaN(value) ? "NaN" : String(value);
}
