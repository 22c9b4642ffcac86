const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Nanoseconds of a Go duration such as `1h30m` or `1.5s`; `undefined` for anything else. */
export function tryParseDuration(text: string): bigint | undefined {
  if (/^[-+]?0$/.test(text)) return 0n;
  const body = text.replace(/^[-+]/, "");
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let total = 0n;
  for (const [, number = "", unit = ""] of body.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [whole = "", fraction = ""] = number.split(".");
    const scale = unitNanoseconds[unit] as bigint;
    total += BigInt(whole || "0") * scale + (BigInt(fraction || "0") * scale) / 10n ** BigInt(fraction.length);
  }
  if (total > 9_223_372_036_854_775_807n) return undefined;
  return text.startsWith("-") ? -total : total;
}

/** A duration as Go prints it: `1m30s`, `168h0m0s`, `1.5s`, `250ms`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const value = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const second = 1_000_000_000n;
  if (value < second) {
    const [unit, scale] = value < 1_000n ? ["ns", 1n] : value < 1_000_000n ? ["µs", 1_000n] : ["ms", 1_000_000n];
    return `${sign}${decimal(value, scale)}${unit}`;
  }
  const hours = value / (3600n * second);
  const minutes = (value / (60n * second)) % 60n;
  const seconds = decimal(value % (60n * second), second);
  return `${sign}${hours > 0n ? `${hours}h${minutes}m` : minutes > 0n ? `${minutes}m` : ""}${seconds}s`;
}

function decimal(value: bigint, scale: bigint): string {
  const fraction = (value % scale)
    .toString()
    .padStart(scale.toString().length - 1, "0")
    .replace(/0+$/, "");
  return `${value / scale}${fraction === "" || scale === 1n ? "" : `.${fraction}`}`;
}
