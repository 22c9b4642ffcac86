import { isIP, isIPv4, isIPv6 } from "../net-address.ts";

/**
 * True when `value` breaks a string format that kube-apiserver enforces in CRDs. Formats it does not know are never broken.
 */
export function formatError(format: string, value: string): boolean {
  const check = checks.get(format.replaceAll("-", ""));
  return check !== undefined && !check(value);
}

const uuid = (version: string): RegExp => new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, "iu");
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u;

const checks: ReadonlyMap<string, (value: string) => boolean> = new Map<string, (value: string) => boolean>([
  ["datetime", isDateTime],
  ["date", (value) => /^\d{4}-\d{2}-\d{2}$/u.test(value) && isRealDate(value)],
  ["duration", isDuration],
  ["byte", (value) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(value) && value !== ""],
  ["gobytes", (value) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(value)],
  ["ipv4", (value) => isIPv4(withoutLeadingZeros(value))],
  ["ipv6", isIPv6],
  ["ip", (value) => isIP(withoutLeadingZeros(value))],
  ["cidr", isCidr],
  ["mac", (value) => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$|^([0-9a-f]{2}[:-]){7}[0-9a-f]{2}$/iu.test(value)],
  ["uuid", (value) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/iu.test(value)],
  ["uuid3", (value) => uuid("3").test(value)],
  ["uuid4", (value) => uuid("4").test(value)],
  ["uuid5", (value) => uuid("5").test(value)],
  ["uri", isRequestUri],
  ["hostname", isHostname],
  ["email", (value) => /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/u.test(value)],
  ["hexcolor", (value) => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/iu.test(value)],
  ["bsonobjectid", (value) => /^[0-9a-f]{24}$/iu.test(value)],
  ["k8sshortname", (value) => value.length <= 63 && dnsLabel.test(value)],
  ["k8slongname", (value) => value.length <= 253 && value.split(".").every((label) => dnsLabel.test(label))],
]);

function isRealDate(text: string): boolean {
  const parsed = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text.slice(0, 10));
}

function isDateTime(value: string): boolean {
  const [date = "", time = ""] = value.toLowerCase().split("t");
  const parts = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/u.exec(time);
  if (parts === null || !/^\d{4}-\d{2}-\d{2}$/u.test(date) || !isRealDate(date)) return false;
  return Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59;
}

const durationUnits = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
/** Whatever begins with these counts as them: `seconds`, `days`. */
const durationWords = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];

/** Go durations (`1h30m`), and texts in which the strfmt package finds a number with a unit somewhere (`3 days`, `P1D`). */
function isDuration(value: string): boolean {
  if (/^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/u.test(value)) return true;
  const found = [...value.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/gu)];
  if (found.some(([, count = ""]) => BigInt(count) > 2n ** 63n - 1n)) return false;
  return found.some(([, , word = ""]) => {
    const unit = word.toLowerCase();
    return durationUnits.includes(unit) || durationWords.some((start) => unit.startsWith(start));
  });
}

/** Go's old parser, which formats still use, takes `010` for 10. */
function withoutLeadingZeros(address: string): string {
  return address.includes(":") ? address : address.replaceAll(/(^|\.)0+(?=\d)/gu, "$1");
}

/** `address/bits` with a mask that fits the family. */
function isCidr(value: string): boolean {
  const slash = value.lastIndexOf("/");
  const address = withoutLeadingZeros(value.slice(0, slash));
  const bits = value.slice(slash + 1);
  return slash > 0 && /^\d{1,3}$/u.test(bits) && ((isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128));
}

/** What Go's `url.ParseRequestURI` takes: an absolute URI or an absolute path. */
function isRequestUri(value: string): boolean {
  if (value.startsWith("/")) return true;
  return /^[a-z][a-z0-9+.-]*:/iu.test(value) && !/[\s\p{Cc}]/u.test(value);
}

function isHostname(value: string): boolean {
  return (
    value.length <= 255 && /^([a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*\.?$/u.test(value)
  );
}
