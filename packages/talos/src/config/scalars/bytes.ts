const decimalUnits = ["B", "kB", "MB", "GB", "TB", "PB", "EB"] as const;

/** A size as Talos prints it for people, in powers of a thousand with at most two significant digits below ten: `100 GB`, `1.5 TB`. */
export function formatDecimalBytes(sizeBytes: number): string {
  if (sizeBytes < 10) return `${sizeBytes} B`;
  const exponent = Math.min(Math.floor(Math.log10(sizeBytes) / 3 + 1e-9), decimalUnits.length - 1);
  const value = Math.floor((sizeBytes / 1000 ** exponent) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${decimalUnits[exponent] ?? "EB"}`;
}
