import { parseBase64 } from "./base64.ts";
import { formatDiskSize, parseBytes } from "./bytes.ts";
import type { ScalarKind } from "../yaml/resolve.ts";
import { tryParseInteger } from "./integer.ts";
import { formatDuration, tryParseDuration } from "./duration.ts";
import { formatAddress, formatPrefix, tryParseAddress, tryParsePrefix } from "./ip.ts";
import { mergeUrls, tryNormalizeUrl } from "./url.ts";

/** How a value that is more than a string is read and printed. Between the two it is its canonical text. */
export interface Codec {
  /** Text of the zero value: what is printed when nothing was given, and what counts as empty. */
  readonly zero: string;
  /** Whether a text is printed without quotes whatever it looks like; by default it is printed as a string. */
  isPlain?(text: string): boolean;
  /** The canonical text, or what is wrong with the input. */
  parse(text: string): Parsed;
  /** Whether a scalar of that kind is taken at all; by default each is. */
  takes?(kind: ScalarKind, text: string): boolean;
  /** A patch that touches the struct around it erases the value unless it gives a new one. So it is in Talos: a volume's selector is lost this way. */
  readonly isErasedByAbsence?: boolean;
  /** A patch cannot change a value that is there, only give one where none is: so it is in Talos. */
  readonly isNeverMerged?: boolean;
  /** How a patch changes a value that is there; by default it replaces it. */
  merge?(left: string, right: string): string;
}

type Parsed = { readonly text: string } | { readonly refusal: string };

/** One of a list of texts, zero value first, whatever their case. A zero value without a name is brought about by absence only. */
export function enumeration(name: string, texts: readonly string[]): Codec {
  const named = texts.filter((item) => item !== "");
  return {
    // Go prints a value without a name by its number.
    zero: texts[0] === "" ? `${name.replace(/^.*\./, "")}(0)` : (texts[0] ?? ""),
    parse: (text) => {
      const known = named.find((item) => item === text) ?? named.find((item) => item.toLowerCase() === text.toLowerCase());
      return known === undefined ? { refusal: `${JSON.stringify(text)} is not one of ${named.join(", ")}` } : { text: known };
    },
  };
}

function checked(name: string, tryParse: (text: string) => string | undefined): Codec {
  return {
    zero: "",
    parse: (text) => {
      if (text === "") return { text };
      const parsed = tryParse(text);
      return parsed === undefined ? { refusal: `${JSON.stringify(text)} is not ${name}` } : { text: parsed };
    },
  };
}

const address = checked("an IP address", (text) => {
  const parsed = tryParseAddress(text);
  return parsed === undefined ? undefined : formatAddress(parsed);
});

const prefix = checked("an address with prefix length", (text) => {
  const parsed = tryParsePrefix(text);
  return parsed === undefined ? undefined : formatPrefix(parsed);
});

const addressAndPort = checked("an address with port", (text) => {
  const [, bracketed, plain, port = ""] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const parsed = tryParseAddress(bracketed ?? plain ?? "");
  if (parsed === undefined || Number(port) > 65_535 || (parsed.family === 6) !== (bracketed !== undefined)) return undefined;
  return parsed.family === 6 ? `[${formatAddress(parsed)}]:${Number(port)}` : `${formatAddress(parsed)}:${Number(port)}`;
});

const url: Codec = { ...checked("a URL", tryNormalizeUrl), merge: mergeUrls };

/** Sizes keep their text: `10240MiB` stays so. */
const byteSize: Codec = {
  zero: "",
  isErasedByAbsence: true,
  parse: (text) => {
    if (text === "") return { text };
    const parsed = parseBytes(text.replace(/^-/, ""));
    return "refusal" in parsed ? parsed : { text };
  },
};

const percentage = /^-?\d+(?:\.\d+)?%$/;
const size: Codec = {
  zero: "",
  parse: (text) => {
    if (!percentage.test(text)) return byteSize.parse(text);
    return Math.abs(Number(text.slice(0, -1))) <= 100
      ? { text }
      : { refusal: `percentage must be between 0 and 100, got ${text.slice(0, -1)}` };
  },
  // Talos keeps both forms side by side and prints the one in bytes.
  merge: (left, right) => (percentage.test(right) && !percentage.test(left) ? left : right),
};

const diskSize: Codec = {
  zero: "0 B",
  isPlain: (text) => /^\d+$/.test(text),
  parse: (text) => {
    const parsed = parseBytes(text);
    return "refusal" in parsed ? parsed : { text: formatDiskSize(parsed.bytes) };
  },
};

/** `>= 100 GB`, `<= 1.5TB`, `100GB`: the text stays. */
const sizeMatcher: Codec = {
  zero: "",
  isNeverMerged: true,
  parse: (text) => {
    const [, operand = ""] = /^(?:>=|<=|==|>|<)?(.*)$/s.exec(text.trim()) ?? [];
    const parsed = parseBytes(operand.trim());
    return "refusal" in parsed ? parsed : { text: text.trim() };
  },
};

const duration: Codec = {
  zero: "0s",
  takes: (kind, text) => kind === "str" || (kind === "int" && tryParseInteger(text) === 0n),
  parse: (text) => {
    const nanoseconds = tryParseDuration(text);
    return nanoseconds === undefined
      ? { refusal: `cannot construct !!str \`${text}\` into time.Duration` }
      : { text: formatDuration(nanoseconds) };
  },
};

const base64: Codec = { zero: "", parse: parseBase64 };

/** Pairs of hexadecimal digits; colons may stand anywhere between digits. */
const hardwareAddress = checked("a hardware address", (text) => {
  const digits = text.replaceAll(":", "").toLowerCase();
  return /^(?:[0-9a-f]{2})+$/.test(digits) ? (digits.match(/../g) ?? []).join(":") : undefined;
});

const fileMode: Codec = {
  zero: "0o0",
  takes: (kind) => kind === "int",
  isPlain: () => true,
  parse: (text) => {
    const mode = tryParseInteger(text);
    return mode === undefined || mode < 0n || mode > 0xffff_ffffn
      ? { refusal: `${JSON.stringify(text)} is not a file mode` }
      : { text: `0o${mode.toString(8)}` };
  },
};

const portRange: Codec = {
  zero: "0",
  takes: (kind, text) => (kind === "int") === !text.includes("-"),
  isPlain: (text) => !text.includes("-"),
  parse: (text) => {
    const [, low = "", high] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
    if (low === "" || Number(low) > 65_535 || Number(high ?? low) > 65_535)
      return { refusal: `${JSON.stringify(text)} is not a port or a range of ports` };
    return { text: high === undefined || Number(high) === Number(low) ? String(Number(low)) : `${Number(low)}-${Number(high)}` };
  },
};

/** Kept as written: expressions are compiled by the node. */
const expression: Codec = { zero: "", isErasedByAbsence: true, parse: (text) => ({ text }) };

/** Empty is the first word, and unlike other enumerations the case counts. */
const failOverMac: Codec = {
  zero: "none",
  parse: (text) => {
    if (["none", "active", "follow", ""].includes(text)) return { text: text === "" ? "none" : text };
    // Their numbers are taken from old configs.
    const known = /^[+-]?\d+$/.test(text) ? ["none", "active", "follow"][Number(text)] : undefined;
    return known === undefined ? { refusal: `invalid fail_over_mac value ${text}` } : { text: known };
  },
};

const plainString: Codec = { zero: "", parse: (text) => ({ text }) };

/** Types that write themselves, by the names that the schema gives them. */
export const codecs: ReadonlyMap<string, Codec> = new Map<string, Codec>([
  ["block.ByteSize", byteSize],
  ["block.PercentageSize", size],
  ["block.Size", size],
  ["cel.Expression", expression],
  ["netip.Addr", address],
  ["netip.AddrPort", addressAndPort],
  ["netip.Prefix", prefix],
  ["network.Addr", address],
  ["network.AddrPort", addressAndPort],
  ["network.Prefix", prefix],
  ["network.PortRange", portRange],
  ["nethelpers.FailOverMAC", failOverMac],
  ["nethelpers.HardwareAddr", hardwareAddress],
  ["meta.URL", url],
  ["time.Duration", duration],
  ["v1alpha1.Endpoint", url],
  ["v1alpha1.DiskSize", diskSize],
  ["v1alpha1.InstallDiskSizeMatcher", sizeMatcher],
  ["v1alpha1.InstallDiskType", plainString],
  ["v1alpha1.FileMode", fileMode],
  ["v1alpha1.Base64Bytes", base64],
  ["base64", base64],
]);
