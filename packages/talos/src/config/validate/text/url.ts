import { refusalOfAddress } from "./address.ts";
import { quoted } from "./quote.ts";

/** A URL as Go takes it apart. */
export interface Url {
  /** Lower case, empty when there is none. */
  readonly scheme: string;
  /** What stands behind the scheme of a URL without `//`. */
  readonly opaque: string;
  /** Host and port, brackets of IPv6 addresses included. */
  readonly host: string;
  readonly path: string;
}

/** The URL, or the refusal of Go's `url.Parse`. */
export function parseUrl(text: string): { readonly url: Url } | { readonly refusal: string } {
  const [beforeFragment = ""] = text.split("#", 1);
  const parsed = takeApart(beforeFragment, false);
  return "why" in parsed ? { refusal: `parse ${quoted(beforeFragment)}: ${parsed.why}` } : { url: parsed };
}

/** The URL, or the refusal of Go's `url.ParseRequestURI`. */
export function parseRequestUrl(text: string): { readonly url: Url } | { readonly refusal: string } {
  const parsed = takeApart(text, true);
  return "why" in parsed ? { refusal: `parse ${quoted(text)}: ${parsed.why}` } : { url: parsed };
}

/** What Talos says of an endpoint that is no URL, names no host or a port that cannot be; `undefined` when it takes it. */
export function refusalOfEndpoint(text: string): string | undefined {
  const parsed = parseUrl(text);
  if ("refusal" in parsed) return parsed.refusal;
  const { host } = parsed.url;
  if (host.split(":").length > 3 && !(host.includes("[") && host.includes("]")))
    return "IPv6 addresses MUST be enclosed by square brackets";
  if (hostnameOf(parsed.url) === "") return "hostname must not be blank";
  const port = portOf(parsed.url);
  return port !== "" && (Number(port) < 1 || Number(port) > 65_535) ? "port number must be between 1 and 65535" : undefined;
}

/** The host without port and brackets. */
export function hostnameOf({ host }: Url): string {
  const bare = host.replace(/:\d*$/, "");
  return bare.startsWith("[") && bare.endsWith("]") ? bare.slice(1, -1) : bare;
}

/** The port, empty when there is none. */
export function portOf({ host }: Url): string {
  return /:(\d*)$/.exec(host)?.[1] ?? "";
}

type Why = { readonly why: string };

function takeApart(text: string, isRequest: boolean): Url | Why {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) return { why: "net/url: invalid control character in URL" };
  if (text === "" && isRequest) return { why: "empty url" };
  if (text === "*") return { scheme: "", opaque: "", host: "", path: "*" };
  if (text.startsWith(":")) return { why: "missing protocol scheme" };
  const [, scheme = "", behind = text] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text) ?? [];
  const [rest = ""] = behind.split("?", 1);
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { scheme: scheme.toLowerCase(), opaque: rest, host: "", path: "" };
    if (isRequest) return { why: "invalid URI for request" };
    if (rest.split("/", 1)[0]?.includes(":") === true) return { why: "first path segment in URL cannot contain colon" };
  }
  const hasHost = rest.startsWith("//") && (scheme !== "" || (!isRequest && !rest.startsWith("///")));
  const slash = hasHost ? rest.indexOf("/", 2) : 0;
  const authority = hasHost ? rest.slice(2, slash < 0 ? undefined : slash) : "";
  const path = slash < 0 ? "" : rest.slice(slash);
  const bad = whyNotAuthority(scheme.toLowerCase(), authority) ?? whyNotEscaped(path);
  if (bad !== undefined) return { why: bad };
  return {
    scheme: scheme.toLowerCase(),
    opaque: "",
    host: unescaped(authority.slice(authority.lastIndexOf("@") + 1)),
    path: unescaped(path),
  };
}

function whyNotAuthority(scheme: string, authority: string): string | undefined {
  const sign = authority.lastIndexOf("@");
  const bad = whyNotHost(scheme, authority.slice(sign + 1));
  if (bad !== undefined || sign < 0) return bad;
  const user = authority.slice(0, sign);
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? whyNotEscaped(user) : "net/url: invalid userinfo";
}

function whyNotHost(scheme: string, host: string): string | undefined {
  const open = host.lastIndexOf("[");
  if (open > 0) return "invalid IP-literal";
  if (open === 0) {
    const close = host.lastIndexOf("]");
    if (close < 0) return "missing ']' in host";
    const port = host.slice(close + 1);
    if (!/^(?::\d*)?$/.test(port)) return `invalid port ${quoted(port)} after host`;
    const inside = host.slice(1, close);
    const bad = whyNotHostText(inside.split("%25", 1)[0] as string);
    if (bad !== undefined) return bad;
    const address = unescaped(inside);
    const refusal = refusalOfAddress(address);
    if (refusal !== undefined) return `invalid host: ${refusal}`;
    return address.includes(":") ? undefined : "invalid IP-literal";
  }
  const colon = scheme === "http" || scheme === "https" ? host.indexOf(":") : host.lastIndexOf(":");
  if (colon >= 0 && !/^:\d*$/.test(host.slice(colon))) return `invalid port ${quoted(host.slice(colon))} after host`;
  return whyNotHostText(host);
}

function whyNotHostText(text: string): string | undefined {
  const bad = /%(?!25)[0-7][0-9a-fA-F]|%(?![0-9a-fA-F]{2}).{0,2}|[ "\\^`{|}#?/]/.exec(text)?.[0];
  if (bad === undefined) return undefined;
  return bad.startsWith("%") ? `invalid URL escape ${quoted(bad)}` : `invalid character ${quoted(bad)} in host name`;
}

function whyNotEscaped(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${quoted(bad)}`;
}

function unescaped(text: string): string {
  return Buffer.from(
    Buffer.from(text, "utf8")
      .toString("latin1")
      .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");
}
