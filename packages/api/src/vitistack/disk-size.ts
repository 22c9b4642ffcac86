import { quantityUnits } from "../validation/byte-size.ts";

/** People write K, too. */
const BYTES: Readonly<Record<string, number>> = { ...quantityUnits, K: 1e3 };

/** Largest disk that a Machine can ask for, in GiB. */
export const MAX_DISK_GB = 65_536;

/**
 * A quantity such as `20Gi`, `1.5Ti` or `512Mi` as whole GiB, rounded up, at least 1: the unit of `sizeGB`. `20G` counts as 20, because
 * that is what the field's name says and what people mean.
 *
 * @returns `undefined` for what is no size, is zero, or is above {@link MAX_DISK_GB}
 */
export function diskSizeGB(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,9})?)(|[kKMGTP]i?)$/.exec(text.trim());
  const [, number = "", unit = ""] = match ?? [];
  const bytes = BYTES[unit];
  if (match === null || bytes === undefined) return undefined;
  const gib = bytes >= 1e9 && !unit.endsWith("i") ? (Number(number) * bytes) / 1e9 : (Number(number) * bytes) / 2 ** 30;
  const whole = Math.ceil(gib);
  return whole >= 1 && whole <= MAX_DISK_GB ? whole : undefined;
}
