import { AWS_ENDPOINT, isDnsLabel, parseEndpoint } from "@talos-operator/api";

/** Makes a value of a text, or says what is wrong with it. */
export type Reader<T> = (text: string) => { readonly value: T } | { readonly problem: string };

const yes: ReadonlySet<string> = new Set(["1", "t", "true", "yes", "on"]);
const no: ReadonlySet<string> = new Set(["", "0", "f", "false", "no", "off"]);

export const readText: Reader<string> = (text) => ({ value: text });

export const readBoolean: Reader<boolean> = (text) => {
  const word = text.trim().toLowerCase();
  if (yes.has(word)) return { value: true };
  return no.has(word) ? { value: false } : { problem: "is neither true nor false" };
};

export function readOneOf<T extends string>(words: readonly T[]): Reader<T> {
  return (text) => {
    const found = words.find((word) => word === text.trim().toLowerCase());
    return found === undefined ? { problem: `is none of ${words.join(", ")}` } : { value: found };
  };
}

/** Whole numbers from `min` to `max`. */
export function readCount(min: number, max: number): Reader<number> {
  return (text) => {
    const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { problem: `is no whole number from ${min} to ${max}` };
  };
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Durations as Go writes them, in milliseconds: `30s`, `1m30s`, `500ms`, `1.5h`; from `minMs` to `maxMs`. */
export function readDuration(minMs: number, maxMs: number): Reader<number> {
  return (text) => {
    const word = text.trim();
    if (!/^(\d{1,9}(\.\d{1,9})?(ms|s|m|h))+$/.test(word)) return { problem: 'is no duration such as "30s" or "1m30s"' };
    const value = [...word.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
      (sum, [, amount, unit = ""]) => sum + Number(amount) * (unitMs[unit] ?? 0),
      0,
    );
    return value >= minMs && value <= maxMs ? { value } : { problem: `is not between ${minMs / 1000} s and ${maxMs / 1000} s` };
  };
}

/** A complete version, with or without `v`; empty is none. */
export const readVersion: Reader<string> = (text) => {
  const word = text.trim();
  return word === "" || /^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(word) ? { value: word } : { problem: 'is no version such as "v1.13.9"' };
};

/** Hosts separated by commas: names and addresses, IPv6 without brackets, none with a port; empty is none. */
export const readHosts: Reader<string> = (text) => {
  const hosts = text.split(",").flatMap((host) => (host.trim() === "" ? [] : [host.trim()]));
  for (const host of hosts) {
    const parsed = parseEndpoint(`https://${host.includes(":") ? `[${host}]` : host}:6443`, "", { allowLoopback: true });
    if ("message" in parsed)
      return {
        problem: `holds ${JSON.stringify(host)}, which is no host such as "api.example.com", "10.0.0.1" or "fd00::1"; the port is 6443`,
      };
  }
  return { value: text };
};

/** Endpoints of stores separated by commas: URLs without anything but a path, and `aws`; `*` is every one, empty is none. */
export const readStoreEndpoints: Reader<readonly string[] | undefined> = (text) => {
  const endpoints = text.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
  if (endpoints.includes("*"))
    return endpoints.length === 1 ? { value: undefined } : { problem: "holds * beside endpoints; * is every endpoint" };
  const isGood = (one: string): boolean => {
    const url = URL.parse(one);
    const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
    return one === AWS_ENDPOINT || (isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === "");
  };
  // What stands before an @ may be a password.
  return endpoints.every(isGood)
    ? { value: endpoints }
    : { problem: 'holds what is no endpoint such as "https://s3.example.org"; "aws" is that of AWS' };
};

/** Namespaces separated by commas; `*` is all of them, empty is none. */
export const readNamespaces: Reader<readonly string[] | undefined> = (text) => {
  const names = text.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  if (names.includes("*")) return names.length === 1 ? { value: undefined } : { problem: "holds * beside names; * is every namespace" };
  const wrong = names.find((name) => !isDnsLabel(name));
  return wrong === undefined ? { value: names } : { problem: `holds ${JSON.stringify(wrong)}, which is no name of a namespace` };
};

/** `host:port` or `:port`; `0` and the empty text switch off. */
export const readAddress: Reader<string> = (text) => {
  const word = text.trim();
  if (word === "" || word === "0") return { value: word };
  const port = Number(/^(?:\[[0-9a-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(word)?.[1]);
  return port <= 65_535 ? { value: word } : { problem: 'is no address such as ":8081" or "127.0.0.1:8081"' };
};

/** A collector: an http or https URL, or `host:port`, which is http; empty is none. */
export const readCollector: Reader<string> = (text) => {
  const word = text.trim();
  if (word === "") return { value: word };
  const whole = word.includes("://") ? word : `http://${word}`;
  const url = URL.parse(whole);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.search !== "" || url.hash !== "")
    return { problem: 'is no URL such as "http://otel-collector:4318"' };
  // Addresses are logged.
  if (url.username !== "" || url.password !== "")
    return { problem: "carries a name or a password; those go into OTEL_EXPORTER_OTLP_HEADERS" };
  return { value: whole };
};
