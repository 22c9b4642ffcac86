/** Label values by name; every label of the metric, and no other. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Name and meaning of a metric. */
export interface MetricSpec {
  /** As Prometheus wants it, for example `workqueue_adds_total`. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** Label names in the order of the output. Default none. Their values must come from a small closed set: each combination is kept until the family is cleared. */
  readonly labels?: readonly string[];
}

/** A histogram's spec. */
export interface HistogramSpec extends MetricSpec {
  /** Upper bounds, growing, without infinity. */
  readonly buckets: readonly number[];
}

/** Only grows. */
export interface Counter {
  /** Adds `amount`, default 1, 0 at least. */
  add(amount?: number): void;
}

/** A value that goes up and down. */
export interface Gauge {
  set(value: number): void;
}

/** Counts observations by size. */
export interface Histogram {
  observe(value: number): void;
}

/** One metric with all its label combinations. */
export interface MetricFamily<M> {
  /**
   * The series with these labels; made at the first call, and then the same each time.
   *
   * @throws RangeError when the labels are not those of the spec
   */
  with(labels?: MetricLabels): M;
  /** Takes every series away: what was made before counts no more, and has to be asked for again. For gauges that name what comes and goes. */
  clear(): void;
}

/**
 * Metrics of one process, kept in memory and written as Prometheus text.
 *
 * A name may be asked for again with the same kind and labels, so that two controllers share one family.
 */
export interface MetricsRegistry {
  /** @throws RangeError for a name that is not valid, or is taken by another kind or other labels */
  counter(spec: MetricSpec): MetricFamily<Counter>;
  /** @throws RangeError as `counter` */
  gauge(spec: MetricSpec): MetricFamily<Gauge>;
  /** @throws RangeError as `counter`, and for buckets that do not grow */
  histogram(spec: HistogramSpec): MetricFamily<Histogram>;
  /** Calls `refresh` before each `text`, to set gauges that are cheaper to read than to follow. Returns the way to end it. */
  onCollect(refresh: () => void): () => void;
  /** Everything, in the text format 0.0.4; content type {@link metricsContentType}. */
  text(): string;
}
