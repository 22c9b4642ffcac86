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
  ["isbn", (value) => isIsbn10(value) || isIsbn13(value)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
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
  if (/^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/u.test(value)) return true;
  // A search begins at the first digit of each number only: from every digit on it would take the square of its length.
  const found = [...value.matchAll(/(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/gu)];
  if (found.some(([, count = ""]) => count.replace(/^0+/, "").length > 19 || BigInt(count) > 2n ** 63n - 1n)) return false;
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

/** One label, or several of which the last has letters only and at least two of them. */
function isHostname(value: string): boolean {
  const single = /^[a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u;
  const several = /^([a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63}$/u;
  return value.length <= 255 && (single.test(value) || several.test(value)) && value.split(".").every((label) => label.length <= 63);
}

/** The sum of the digits, each counted by its place, is a multiple of eleven. */
function isIsbn10(value: string): boolean {
  const digits = value.replaceAll(/[\s-]+/gu, "");
  if (!/^\d{9}[\dX]$/u.test(digits)) return false;
  return Array.from(digits).reduce((sum, digit, index) => sum + (index + 1) * (digit === "X" ? 10 : Number(digit)), 0) % 11 === 0;
}

/** Every other digit counts three times, and the last one makes the sum a multiple of ten. */
function isIsbn13(value: string): boolean {
  const digits = value.replaceAll(/[\s-]+/gu, "");
  return (
    /^\d{13}$/u.test(digits) &&
    Array.from(digits).reduce((sum, digit, index) => sum + (index % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0
  );
}

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/u;

/** A number of one of the issuers, with a check digit after Luhn. */
function isCreditCard(value: string): boolean {
  const digits = value.replaceAll(/\D+/gu, "");
  if (!cardNumber.test(digits)) return false;
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return sum % 10 === 0;
}
