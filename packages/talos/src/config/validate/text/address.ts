import { tryParseAddress, tryParsePrefix } from "../../scalars/ip.ts";
import { quoted } from "./quote.ts";

/** Whether Go's `net.ParseIP` takes the text: an address without a zone. */
export function isPlainAddress(text: string): boolean {
  return tryParseAddress(text)?.zone === "";
}

/** Whether Go's `net.ParseCIDR` takes the text; unlike newer readers it lets the length start with zeros. */
export function isCidr(text: string): boolean {
  return tryParsePrefix(text.replace(/\/0+(?=\d)/, "/")) !== undefined;
}

/** Whether the text is a network, or an address that stands for itself. */
export function isSubnetOrAddress(text: string): boolean {
  return tryParsePrefix(text) !== undefined || tryParseAddress(text) !== undefined;
}

/** The refusal of Go's `netip.ParsePrefix`, `undefined` when it takes the text. */
export function refusalOfPrefix(text: string): string | undefined {
  if (tryParsePrefix(text) !== undefined) return undefined;
  const refused = (why: string): string => `netip.ParsePrefix(${quoted(text)}): ${why}`;
  const slash = text.lastIndexOf("/");
  if (slash < 0) return refused("no '/'");
  const address = refusalOfAddress(text.slice(0, slash));
  if (address !== undefined) return refused(address);
  if (text.slice(0, slash).includes("%")) return refused("IPv6 zones cannot be present in a prefix");
  const bits = text.slice(slash + 1);
  return refused(/^(?:\d|[1-9]\d{1,18})$/.test(bits) ? "prefix length out of range" : `bad bits after slash: ${quoted(bits)}`);
}

/** The refusal of Go's `netip.ParseAddr`, `undefined` when it takes the text. */
export function refusalOfAddress(text: string): string | undefined {
  if (tryParseAddress(text) !== undefined) return undefined;
  const found = /[.:%]/.exec(text)?.[0];
  const { why, at } =
    found === "."
      ? whyNotIpv4(text)
      : found === ":"
        ? whyNotIpv6(text)
        : { why: found === "%" ? "missing IPv6 address" : "unable to parse IP" };
  return `ParseAddr(${quoted(text)}): ${why}${at === undefined ? "" : ` (at ${quoted(at)})`}`;
}

interface Why {
  readonly why: string;
  /** The rest of the text from the trouble on. */
  readonly at?: string;
}

function whyNotIpv4(text: string): Why {
  let field = "";
  let dots = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index] as string;
    if (/\d/.test(char)) {
      if (field === "0") return { why: "IPv4 field has octet with leading zero" };
      field += char;
      if (Number(field) > 255) return { why: "IPv4 field has value >255" };
    } else if (char === ".") {
      if (index === 0 || index === text.length - 1 || text[index - 1] === ".")
        return { why: "IPv4 field must have at least one digit", at: text.slice(index) };
      if (dots === 3) return { why: "IPv4 address too long" };
      dots++;
      field = "";
    } else {
      return { why: "unexpected character", at: text.slice(index) };
    }
  }
  return { why: "IPv4 address too short" };
}

function whyNotIpv6(text: string): Why {
  const percent = text.indexOf("%");
  if (percent === text.length - 1) return { why: "zone must be a non-empty string" };
  let rest = percent < 0 ? text : text.slice(0, percent);
  let fields = 0;
  let hasGap = rest.startsWith("::");
  if (hasGap) rest = rest.slice(2);
  while (fields < 8) {
    const digits = (/^[0-9a-fA-F]*/.exec(rest) as RegExpExecArray)[0];
    if (digits.length > 4) return { why: "each group must have 4 or less digits", at: rest };
    if (digits === "") return { why: "each colon-separated field must have at least one digit", at: rest };
    if (rest[digits.length] === ".") {
      if (!hasGap && fields !== 6) return { why: "embedded IPv4 address must replace the final 2 fields of the address", at: rest };
      if (fields > 6) return { why: "too many hex fields to fit an embedded IPv4 at the end of the address", at: rest };
      return whyNotIpv4(rest);
    }
    fields++;
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (!rest.startsWith(":")) return { why: "unexpected character, want colon", at: rest };
    if (rest === ":") return { why: "colon must be followed by more characters", at: rest };
    rest = rest.slice(1);
    if (!rest.startsWith(":")) continue;
    if (hasGap) return { why: "multiple :: in address", at: rest };
    hasGap = true;
    rest = rest.slice(1);
    if (rest === "") break;
  }
  if (rest !== "") return { why: "trailing garbage after address", at: rest };
  return { why: hasGap ? "the :: must expand to at least one field of zeros" : "address string too short" };
}

/** Host and port of `host:port`, or the refusal of Go's `net.SplitHostPort`. */
export function splitHostPort(text: string): { readonly host: string; readonly port: string } | { readonly refusal: string } {
  const refused = (why: string): { refusal: string } => ({ refusal: text === "" ? why : `address ${text}: ${why}` });
  const colon = text.lastIndexOf(":");
  if (colon < 0) return refused("missing port in address");
  let host = text.slice(0, colon);
  const end = text.indexOf("]");
  if (text.startsWith("[")) {
    if (end < 0) return refused("missing ']' in address");
    if (end + 1 === text.length) return refused("missing port in address");
    if (end + 1 !== colon) return refused(text[end + 1] === ":" ? "too many colons in address" : "missing port in address");
    host = text.slice(1, end);
  } else if (host.includes(":")) {
    return refused("too many colons in address");
  }
  if (text.indexOf("[", text.startsWith("[") ? 1 : 0) >= 0) return refused("unexpected '[' in address");
  if (text.indexOf("]", text.startsWith("[") ? end + 1 : 0) >= 0) return refused("unexpected ']' in address");
  return { host, port: text.slice(colon + 1) };
}

/** Whether the text is a host with a port. */
export function hasPort(text: string): boolean {
  const parts = splitHostPort(text);
  return !("refusal" in parts) && (!parts.host.includes(":") || tryParseAddress(parts.host) !== undefined);
}
