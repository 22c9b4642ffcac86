/** A sorted sample. */
export interface Figures {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function figuresOf(values: readonly number[]): Figures {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** `0.42 s p50, 0.61 s p99, 0.70 s max (100)` */
export function inSeconds(figures: Figures): string {
  const text = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  return `${text(figures.p50)} p50, ${text(figures.p99)} p99, ${text(figures.max)} max (${figures.count})`;
}

/** `4 ms p50, 21 ms p99, 30 ms max (100)` */
export function inMilliseconds(figures: Figures): string {
  return `${figures.p50.toFixed(0)} ms p50, ${figures.p99.toFixed(0)} ms p99, ${figures.max.toFixed(0)} ms max (${figures.count})`;
}
