const decimalUnits = ["B", "kB", "MB", "GB", "TB", "PB", "EB"] as const;

/** A size as Talos prints it for people, in powers of a thousand, one digit after the point below ten: `100 GB`, `1.5 TB`. */
function formatDecimalBytes(sizeBytes: number): string {
  if (sizeBytes < 10) return `${sizeBytes} B`;
  const exponent = Math.min(Math.floor(Math.log10(sizeBytes) / 3 + 1e-9), decimalUnits.length - 1);
  const value = Math.floor((sizeBytes / 1000 ** exponent) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${decimalUnits[exponent] ?? "EB"}`;
}

/** A partition size as Talos prints it: for people when it is a whole number of kilobytes, else the bare number of bytes. */
export function formatDiskSize(sizeBytes: number): string {
  return sizeBytes % 1000 === 0 ? formatDecimalBytes(sizeBytes) : String(sizeBytes);
}

const unitBytes: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  t: 1e12,
  tb: 1e12,
  p: 1e15,
  pb: 1e15,
  e: 1e18,
  eb: 1e18,
  ki: 1024,
  kib: 1024,
  mi: 1024 ** 2,
  mib: 1024 ** 2,
  gi: 1024 ** 3,
  gib: 1024 ** 3,
  ti: 1024 ** 4,
  tib: 1024 ** 4,
  pi: 1024 ** 5,
  pib: 1024 ** 5,
  ei: 1024 ** 6,
  eib: 1024 ** 6,
};

/** Bytes of `100 GB`, `1.5TiB`, `1024`; or the text of the refusal. */
export function parseBytes(text: string): { readonly bytes: number } | { readonly refusal: string } {
  const [, digits = "", unit = ""] = /^([\d.,]*)(.*)$/s.exec(text) ?? [];
  const number = digits.replaceAll(",", "");
  const value = Number(number);
  if (number === "" || Number.isNaN(value)) return { refusal: `strconv.ParseFloat: parsing ${JSON.stringify(number)}: invalid syntax` };
  const scale = unitBytes[unit.trim().toLowerCase()];
  if (scale === undefined) return { refusal: `unhandled size name: ${unit.trim().toLowerCase()}` };
  const bytes = value * scale;
  return bytes >= 2 ** 64 ? { refusal: `too large: ${text}` } : { bytes };
}

/** Bytes of a size as people write it, as `100GB`, `1.5 TiB` or `1024`; `undefined` for what is none. */
export function parseByteSize(text: string): number | undefined {
  const parsed = parseBytes(text);
  return "bytes" in parsed ? Math.floor(parsed.bytes) : undefined;
}
