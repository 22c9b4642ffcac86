/** `12.3s` */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

/** `16:04:05`, as clocks show it here. */
export function timeOfDay(atMs: number): string {
  return new Date(atMs).toTimeString().slice(0, 8);
}
