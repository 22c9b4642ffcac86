import { refuseLabel, refuseOldLabel, refuseSubdomain } from "../request/names.ts";
import { problemsOfLabelValue, problemsOfQualifiedName } from "../request/qualified-name.ts";
import { Environment, Optional } from "@marcbachmann/cel-js";
import { formatError } from "../schema/formats.ts";
import { addressError, blockError, CidrBlock, IpAddress, tryParseAddress, tryParseBlock } from "./addresses.ts";
import { sameCel } from "./equality.ts";
import { registerLists } from "./lists.ts";
import { registerMacros } from "./macros.ts";
import { registerOptionalEntries } from "./optional-entries.ts";
import { Quantity, tryParseQuantity } from "./quantity.ts";
import { Semver, tryParseSemver } from "./semver.ts";
import { registerStrings } from "./strings.ts";

/** A validator of `format.<name>()`. */
class NamedFormat {
  readonly check: (value: string) => readonly string[];
  constructor(check: (value: string) => readonly string[]) {
    this.check = check;
  }
}
class FormatNamespace {
  readonly name = "format";
}
class SetsNamespace {
  readonly name = "sets";
}
class ListsNamespace {
  readonly name = "lists";
}
class StringsNamespace {
  readonly name = "strings";
}
class IpNamespace {
  readonly name = "ip";
}

/** An environment with Kubernetes' CEL library and no variables. Building one takes milliseconds: build once, `clone()` often. */
export function createCelEnvironment(): Environment {
  const environment = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 20_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000 },
  });
  registerMacros(environment);
  registerStrings(environment);
  registerLists(environment);
  environment.registerFunction("optional<dyn>.optionalValue(): dyn", (optional: Optional) => optional.value());
  registerQuantities(environment);
  registerAddresses(environment);
  registerUrls(environment);
  registerFormats(environment);
  registerSets(environment);
  registerSemver(environment);
  registerNamespaces(environment);
  registerOptionalEntries(environment);
  return environment;
}

function orFail<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new Error(message);
  return value;
}

function registerQuantities(environment: Environment): void {
  const parse = (text: string): Quantity =>
    orFail(tryParseQuantity(text), "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  environment.registerType("Quantity", { ctor: Quantity, fields: {} });
  const add = (signature: string, handler: (...args: never[]) => unknown): unknown => environment.registerFunction(signature, handler);
  add("isQuantity(string): bool", (text: string) => tryParseQuantity(text) !== undefined);
  add("quantity(string): Quantity", parse);
  // No method, though its documentation says so.
  add("sign(Quantity): int", (q: Quantity) => (q.mantissa < 0n ? -1n : q.mantissa > 0n ? 1n : 0n));
  add("Quantity.isInteger(): bool", (q: Quantity) => q.toInteger() !== undefined);
  add("Quantity.asInteger(): int", (q: Quantity) => orFail(q.toInteger(), "cannot convert value to integer"));
  add("Quantity.asApproximateFloat(): double", (q: Quantity) => q.toNumber());
  add("Quantity.compareTo(Quantity): int", (a: Quantity, b: Quantity) => BigInt(a.compareTo(b)));
  add("Quantity.isLessThan(Quantity): bool", (a: Quantity, b: Quantity) => a.compareTo(b) < 0);
  add("Quantity.isGreaterThan(Quantity): bool", (a: Quantity, b: Quantity) => a.compareTo(b) > 0);
  add("Quantity.add(Quantity): Quantity", (a: Quantity, b: Quantity) => a.plus(b));
  add("Quantity.add(int): Quantity", (a: Quantity, b: bigint) => a.plus(new Quantity(b, 0)));
  add("Quantity.sub(Quantity): Quantity", (a: Quantity, b: Quantity) => a.minus(b));
  add("Quantity.sub(int): Quantity", (a: Quantity, b: bigint) => a.minus(new Quantity(b, 0)));
  environment.registerOperator("Quantity == Quantity", (a: Quantity, b: Quantity) => a.compareTo(b) === 0);
}

function registerAddresses(environment: Environment): void {
  const parseAddress = (text: string): IpAddress => orFail(tryParseAddress(text), addressError(text));
  const parseBlock = (text: string): CidrBlock =>
    orFail(tryParseBlock(text), `network address parse error during conversion from string: ${blockError(text)}`);
  environment.registerType("net.IP", { ctor: IpAddress, fields: {} });
  environment.registerType("net.CIDR", { ctor: CidrBlock, fields: {} });
  const add = (signature: string, handler: (...args: never[]) => unknown): unknown => environment.registerFunction(signature, handler);
  add("isIP(string): bool", (text: string) => tryParseAddress(text) !== undefined);
  add("ip(string): net.IP", parseAddress);
  add("string(net.IP): string", (a: IpAddress) => a.toString());
  add("net.IP.family(): int", (a: IpAddress) => (a.bits === 32 ? 4n : 6n));
  add("net.IP.isUnspecified(): bool", (a: IpAddress) => a.value === 0n);
  add("net.IP.isLoopback(): bool", (a: IpAddress) => a.isIn("127.0.0.0", 8) || a.isIn("::1", 128));
  add("net.IP.isLinkLocalMulticast(): bool", (a: IpAddress) => a.isIn("224.0.0.0", 24) || a.isIn("ff02::", 16));
  add("net.IP.isLinkLocalUnicast(): bool", (a: IpAddress) => a.isIn("169.254.0.0", 16) || a.isIn("fe80::", 10));
  add("net.IP.isGlobalUnicast(): bool", isGlobalUnicast);
  add("isCIDR(string): bool", (text: string) => tryParseBlock(text) !== undefined);
  add("cidr(string): net.CIDR", parseBlock);
  add("string(net.CIDR): string", (c: CidrBlock) => c.toString());
  add("net.CIDR.containsIP(string): bool", (c: CidrBlock, text: string) => c.contains(parseAddress(text)));
  add("net.CIDR.containsIP(net.IP): bool", (c: CidrBlock, a: IpAddress) => c.contains(a));
  const containsBlock = (c: CidrBlock, other: CidrBlock): boolean => other.length >= c.length && c.contains(other.address);
  add("net.CIDR.containsCIDR(string): bool", (c: CidrBlock, text: string) => containsBlock(c, parseBlock(text)));
  add("net.CIDR.containsCIDR(net.CIDR): bool", containsBlock);
  add("net.CIDR.ip(): net.IP", (c: CidrBlock) => c.address);
  add("net.CIDR.masked(): net.CIDR", (c: CidrBlock) => c.masked());
  add("net.CIDR.prefixLength(): int", (c: CidrBlock) => BigInt(c.length));
  environment.registerOperator("net.IP == net.IP", (a: IpAddress, b: IpAddress) => a.bits === b.bits && a.value === b.value);
  environment.registerOperator("net.CIDR == net.CIDR", (a: CidrBlock, b: CidrBlock) => a.toString() === b.toString());
}

function isGlobalUnicast(a: IpAddress): boolean {
  const multicast = a.isIn("224.0.0.0", 4) || a.isIn("ff00::", 8);
  const local = a.isIn("127.0.0.0", 8) || a.isIn("::1", 128) || a.isIn("169.254.0.0", 16) || a.isIn("fe80::", 10);
  return !(multicast || local || a.value === 0n || (a.bits === 32 && a.value === 0xffffffffn));
}

function tryParseUrl(text: string): URL | undefined {
  // Kubernetes takes what Go's url.ParseRequestURI takes and then asks for a scheme and host, or an absolute path.
  const absolute = text.startsWith("/") ? `path:${text}` : text;
  if (!/^[a-z][a-z0-9+.-]*:\/?/iu.test(absolute) || /[\s\p{Cc}]/u.test(text)) return undefined;
  return URL.canParse(absolute) ? new URL(absolute) : undefined;
}

function registerUrls(environment: Environment): void {
  environment.registerType("URL", { ctor: URL, fields: {} });
  const add = (signature: string, handler: (...args: never[]) => unknown): unknown => environment.registerFunction(signature, handler);
  add("isURL(string): bool", (text: string) => tryParseUrl(text) !== undefined);
  add("url(string): URL", (text: string) =>
    orFail(tryParseUrl(text), `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`),
  );
  add("URL.getScheme(): string", (url: URL) => (url.protocol === "path:" ? "" : url.protocol.slice(0, -1)));
  add("URL.getHost(): string", (url: URL) => url.host);
  add("URL.getHostname(): string", (url: URL) => url.hostname.replace(/^\[|\]$/gu, ""));
  add("URL.getPort(): string", (url: URL) => url.port);
  add("URL.getEscapedPath(): string", (url: URL) => url.pathname);
  add("URL.getQuery(): map<string, list<string>>", (url: URL) => {
    const query = Object.create(null) as Record<string, string[]>;
    for (const [key, value] of url.searchParams) (query[key] ??= []).push(value);
    return query;
  });
}

/** What is wrong with a text that shall be of a format, in kube-apiserver's words. */
const namedFormats: Readonly<Record<string, (value: string) => readonly string[]>> = {
  dns1123Label: refuseLabel,
  dns1123LabelPrefix: (value) => refuseLabel(asPrefix(value)),
  dns1123Subdomain: refuseSubdomain,
  dns1123SubdomainPrefix: (value) => refuseSubdomain(asPrefix(value)),
  dns1035Label: refuseOldLabel,
  dns1035LabelPrefix: (value) => refuseOldLabel(asPrefix(value)),
  qualifiedName: problemsOfQualifiedName,
  labelValue: problemsOfLabelValue,
  uri: (value) => (formatError("uri", value) ? [`parse ${JSON.stringify(value)}: invalid URI for request`] : []),
  uuid: (value) => (formatError("uuid", value) ? ["does not match the UUID format"] : []),
  byte: (value) => (formatError("byte", value) ? ["invalid base64"] : []),
  date: (value) => (formatError("date", value) ? ["invalid date"] : []),
  datetime: (value) => (formatError("date-time", value) ? ["invalid datetime"] : []),
};

/** What comes before something else may end in a dash. */
function asPrefix(value: string): string {
  return value.length > 1 && value.endsWith("-") ? `${value.slice(0, -2)}a` : value;
}

function registerFormats(environment: Environment): void {
  environment.registerType("Format", { ctor: NamedFormat, fields: {} });
  environment.registerType("FormatNamespace", { ctor: FormatNamespace, fields: {} });
  environment.registerConstant("format", "FormatNamespace", new FormatNamespace());
  const all = new Map(Object.entries(namedFormats).map(([name, check]) => [name, new NamedFormat(check)]));
  for (const [name, format] of all) environment.registerFunction(`FormatNamespace.${name}(): Format`, () => format);
  environment.registerFunction("FormatNamespace.named(string): optional<Format>", (_: unknown, name: string) => {
    const format = all.get(name);
    return format === undefined ? Optional.none() : Optional.of(format);
  });
  environment.registerFunction("Format.validate(string): optional<list<string>>", (format: NamedFormat, value: string) => {
    const problems = format.check(value);
    return problems.length === 0 ? Optional.none() : Optional.of(problems);
  });
}

function registerSemver(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown): unknown => environment.registerFunction(signature, handler);
  const parse = (text: string, normalize?: boolean): Semver =>
    orFail(tryParseSemver(text, normalize), `${JSON.stringify(text)} is no semantic version`);
  environment.registerType("Semver", { ctor: Semver, fields: {} });
  add("isSemver(string): bool", (text: string) => tryParseSemver(text) !== undefined);
  add("isSemver(string, bool): bool", (text: string, normalize: boolean) => tryParseSemver(text, normalize) !== undefined);
  add("semver(string): Semver", (text: string) => parse(text));
  add("semver(string, bool): Semver", parse);
  add("Semver.major(): int", (version: Semver) => version.numbers[0]);
  add("Semver.minor(): int", (version: Semver) => version.numbers[1]);
  add("Semver.patch(): int", (version: Semver) => version.numbers[2]);
  add("Semver.compareTo(Semver): int", (a: Semver, b: Semver) => BigInt(a.compareTo(b)));
  add("Semver.isLessThan(Semver): bool", (a: Semver, b: Semver) => a.compareTo(b) < 0);
  add("Semver.isGreaterThan(Semver): bool", (a: Semver, b: Semver) => a.compareTo(b) > 0);
  environment.registerOperator("Semver == Semver", (a: Semver, b: Semver) => a.compareTo(b) === 0);
}

/** Longest list that `lists.range` makes, as long as a literal may be. */
const longestRange = 1000n;

function registerNamespaces(environment: Environment): void {
  environment.registerType("ListsNamespace", { ctor: ListsNamespace, fields: {} });
  environment.registerConstant("lists", "ListsNamespace", new ListsNamespace());
  environment.registerFunction("ListsNamespace.range(int): list<int>", (_: unknown, count: bigint) => {
    if (count > longestRange) throw new Error(`range of ${count} items is longer than ${longestRange}`);
    return Array.from({ length: Number(count) }, (_item, index) => BigInt(index));
  });
  environment.registerType("StringsNamespace", { ctor: StringsNamespace, fields: {} });
  environment.registerConstant("strings", "StringsNamespace", new StringsNamespace());
  environment.registerFunction("StringsNamespace.quote(string): string", (_: unknown, text: string) => quote(text));
  environment.registerType("IpNamespace", { ctor: IpNamespace, fields: {} });
  environment.registerConstant("ip", "IpNamespace", new IpNamespace());
  environment.registerFunction("IpNamespace.isCanonical(string): bool", (_: unknown, text: string) => {
    const address = orFail(tryParseAddress(text), addressError(text));
    return address.toString() === text;
  });
}

const escapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

function quote(text: string): string {
  return `"${Array.from(text, (character) => escapes[character] ?? character).join("")}"`;
}

function registerSets(environment: Environment): void {
  environment.registerType("SetsNamespace", { ctor: SetsNamespace, fields: {} });
  environment.registerConstant("sets", "SetsNamespace", new SetsNamespace());
  const has = (list: readonly unknown[], item: unknown): boolean => list.some((other) => sameCel(other, item));
  const contains = (_: unknown, list: readonly unknown[], sub: readonly unknown[]): boolean => sub.every((item) => has(list, item));
  environment.registerFunction("SetsNamespace.contains(list, list): bool", contains);
  environment.registerFunction(
    "SetsNamespace.equivalent(list, list): bool",
    (_: unknown, a: unknown[], b: unknown[]) => contains(_, a, b) && contains(_, b, a),
  );
  environment.registerFunction("SetsNamespace.intersects(list, list): bool", (_: unknown, a: unknown[], b: unknown[]) =>
    a.some((item) => has(b, item)),
  );
}
