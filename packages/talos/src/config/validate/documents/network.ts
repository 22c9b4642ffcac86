import type { ConfigMap } from "../../document/value.ts";
import { tryParseDuration } from "../../scalars/duration.ts";
import { whyNotExpression } from "../cel/check.ts";
import { at, integerAt, isOn, isThere, listAt, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import type { Report } from "../report.ts";
import { isPlainAddress, isSubnetOrAddress, refusalOfAddress, refusalOfPrefix } from "../text/address.ts";
import { quoted } from "../text/quote.ts";
import { hostnameOf, parseUrl } from "../text/url.ts";
import type { DocumentRule } from "./rule.ts";

const blackholeRoute: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  report.errorIf(name === "", "name must be specified");
  const refusal = refusalOfPrefix(name);
  if (refusal !== undefined) report.error(`name must be a valid address prefix: ${refusal}`);
};

const dhcp: DocumentRule = (members, report) => {
  const isDuid = textAt(members, "clientIdentifier") === "duid";
  const hasDuid = textAt(members, "duidRaw") !== "";
  report.errorIf(textAt(members, "name") === "", "name must be specified");
  report.errorIf(hasDuid && !isDuid, "duidRaw can only be set if clientIdentifier is 'duid'");
  report.errorIf(isDuid && !hasDuid, "duidRaw must be set if clientIdentifier is 'duid'");
};

function checkVip(members: ConfigMap, report: Report): void {
  const name = textAt(members, "name");
  const refusal = refusalOfAddress(name);
  if (name === "") report.error("name must be specified");
  else if (refusal !== undefined) report.error(`name must be a valid IP address: ${refusal}`);
  report.errorIf(textAt(members, "link") === "", "link must be specified");
}

const hcloudVip: DocumentRule = (members, report) => {
  checkVip(members, report);
  report.errorIf(textAt(members, "apiToken") === "", "apiToken must be specified");
};

const hostname: DocumentRule = (members, report) => {
  const auto = textAt(members, "auto");
  const name = textAt(members, "hostname");
  report.errorIf(!isThere(members, "auto") && name === "", "either 'auto' or 'hostname' must be set");
  report.errorIf(!["", "off"].includes(auto) && name !== "", "'auto' and 'hostname' cannot be set at the same time");
  report.errorIf(auto === "talos-addr", `invalid value for 'auto': ${auto}`);
  if (name === "") return;
  const length = Buffer.byteLength(name);
  const [first = ""] = name.split(".", 1);
  report.errorIf(length > 253, `fqdn is too long: ${length}`);
  report.errorIf(first === "" || Buffer.byteLength(first) > 63, `invalid hostname ${quoted(first)}`);
};

const kubeSpan: DocumentRule = (members, report) => {
  report.errorIf(isThere(members, "mtu") && integerAt(members, "mtu") < 1280n, "kubespan link MTU must be at least 1280");
  for (const filter of textsAt(members, "filters", "endpoints").map((text) => text.replace(/^!/, ""))) {
    report.errorIf(!isSubnetOrAddress(filter), `KubeSpan endpoint filter is not valid: ${quoted(filter)}`);
  }
};

const linkAlias: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  const percent = name.indexOf("%");
  report.errorIf(name === "", "name must be specified");
  report.errorIf(
    percent >= 0 && (percent === 0 || name.slice(percent + 1) !== "d"),
    `name ${quoted(name)} contains an invalid format verb, use %d suffix`,
  );
  checkSelector(textAt(members, "selector", "match"), report);
};

function checkSelector(expression: string, report: Report): void {
  if (expression === "") return report.error("link selector is required");
  const refusal = whyNotExpression(expression, "link", "bool");
  if (refusal !== undefined) report.error(`link selector is invalid: ${refusal}`);
}

/** Only the documents of 1.14 have something that can be wrong. */
const resolver: DocumentRule = (members, report, { generation }) => {
  if (generation === "1.13") return;
  const hostDns = mapAt(members, "hostDNS");
  if (!isOn(hostDns, "enabled")) {
    for (const field of ["forwardKubeDNSToHost", "resolveMemberNames"]) {
      report.errorIf(isOn(hostDns, field), `hostDNS.${field} cannot be enabled when hostDNS.enabled is false`);
    }
  }
  const servers = mapsAt(members, "nameservers");
  servers.forEach((server, index) => {
    const protocol = textAt(server, "protocol") || "Do53";
    const hasServerName = textAt(server, "tlsServerName") !== "";
    if (protocol === "Do53") report.errorIf(hasServerName, `tlsServerName must be empty when protocol is Do53: entry ${index}`);
    else report.errorIf(!hasServerName, `tlsServerName must be set when protocol is ${protocol}: entry ${index}`);
    report.errorIf(textAt(server, "address") === "", `nameserver address must be a valid IP: entry ${index}`);
  });
  if (servers.length > 0 && servers.every((server) => !["", "Do53"].includes(textAt(server, "protocol")))) {
    report.warning(
      "all configured nameservers use encrypted DNS (DoT or DoH): validating certificates requires a correct system clock, so boot may stall when NTP servers are configured by hostname; consider keeping at least one plain-DNS fallback or configuring NTP servers by IP address",
    );
  }
};

/** Rules of Linux and of KubeSpan have these numbers. */
const reservedPriorities = [0n, 32_500n, 32_766n, 32_767n];

const routingRule: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  report.errorIf(name === "", "name must be specified");
  const isNumber = /^\d+$/.test(name);
  const isTooLarge = isNumber && BigInt(name) > 4_294_967_295n;
  if (!isNumber || isTooLarge) {
    const why = isTooLarge ? "value out of range" : "invalid syntax";
    report.error(`invalid name: must be priority parsable unsigned integer: strconv.ParseUint: parsing ${quoted(name)}: ${why}`);
  }
  report.errorIf(
    reservedPriorities.includes(isNumber ? BigInt(name) : 0n),
    `priority must be between 1 and 32765 (excluding reserved priorities [${reservedPriorities.join(" ")}])`,
  );
  report.errorIf(
    ["", "unspec"].includes(textAt(members, "table")) && ["", "unspec", "unicast"].includes(textAt(members, "action")),
    "either table or a non-unicast action must be specified",
  );
  report.errorIf(integerAt(members, "fwMask") !== 0n && integerAt(members, "fwMark") === 0n, "fwMask requires fwMark to be set");
};

const staticHost: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  report.errorIf(name === "", "name is required");
  report.errorIf(refusalOfAddress(name) !== undefined, "name must be a valid IP address");
  report.errorIf(listAt(members, "hostnames").length === 0, "at least one hostname is required");
};

/** Talos stops at the first thing that is wrong with a rule. */
const networkRule: DocumentRule = (members, report) => {
  if (textAt(members, "name") === "") return report.error("name is required");
  const ports = textsAt(members, "portSelector", "ports");
  if (ports.length === 0) return report.error("portSelector.ports is required");
  const refusal = whyNotPorts(ports);
  if (refusal !== undefined) return report.error(refusal);
  if (mapsAt(members, "ingress").some((rule) => textAt(rule, "subnet") === "")) report.error("invalid subnet: invalid Prefix");
};

function whyNotPorts(texts: readonly string[]): string | undefined {
  const ranges = texts
    .map((text) => {
      const [low = "0", high = low] = text.split("-");
      return { text: `${Number(low)}-${Number(high)}`, low: Number(low), high: Number(high) };
    })
    .toSorted((a, b) => a.low - b.low);
  for (const [index, range] of ranges.entries()) {
    if (range.low > range.high) return `invalid port range: ${range.text}`;
    const before = ranges[index - 1];
    if (before !== undefined && range.low <= before.high) return `invalid port range: ${range.text}, overlaps with ${before.text}`;
  }
  return undefined;
}

function checkProbe(members: ConfigMap, kind: "TCP" | "HTTP", report: Report): void {
  const negative = (field: string): string | undefined => {
    const text = textAt(members, field);
    return (tryParseDuration(text) ?? 0n) < 0n ? text : undefined;
  };
  const timeout = negative("timeout");
  if (timeout !== undefined) report.error(`${kind} probe timeout cannot be negative: ${timeout}`);
  const interval = negative("interval");
  if (interval !== undefined) report.error(`probe interval cannot be negative: ${interval}`);
  const threshold = integerAt(members, "failureThreshold");
  report.errorIf(threshold < 0n, `probe failure threshold cannot be negative: ${threshold}`);
}

const tcpProbe: DocumentRule = (members, report) => {
  report.errorIf(textAt(members, "name") === "", "probe name is required");
  report.errorIf(textAt(members, "endpoint") === "", "TCP probe endpoint is required");
  checkProbe(members, "TCP", report);
};

const httpProbe: DocumentRule = (members, report) => {
  report.errorIf(textAt(members, "name") === "", "probe name is required");
  const parsed = textAt(members, "url") === "" ? undefined : parseUrl(textAt(members, "url"));
  if (parsed === undefined || "refusal" in parsed) report.error("HTTP probe URL is required");
  else if (!["http", "https"].includes(parsed.url.scheme))
    report.error(`HTTP probe URL scheme must be http or https, got ${quoted(parsed.url.scheme)}`);
  else
    report.errorIf(
      parsed.url.opaque !== "" || hostnameOf(parsed.url) === "",
      "HTTP probe URL must be an absolute http or https URL with a non-empty host",
    );
  checkProbe(members, "HTTP", report);
};

const timeSync: DocumentRule = (members, report) => {
  report.errorIf((tryParseDuration(textAt(members, "bootTimeout")) ?? 0n) < 0n, "bootTimeout cannot be negative");
  report.errorIf(isThere(members, "ntp") && isThere(members, "ptp"), "only one of ntp or ptp configuration can be specified");
  if (at(members, "ntp", "useNTS") !== true) return;
  for (const server of textsAt(members, "ntp", "servers")) {
    report.errorIf(isPlainAddress(server), `NTS requires hostnames, not IP addresses: ${quoted(server)}`);
  }
};

/** Everything of the network but links. */
export const networkRules: Readonly<Record<string, DocumentRule>> = {
  BlackholeRouteConfig: blackholeRoute,
  DHCPv4Config: dhcp,
  DHCPv6Config: dhcp,
  EthernetConfig: (members, report) => report.errorIf(textAt(members, "name") === "", "name is required"),
  HCloudVIPConfig: hcloudVip,
  HTTPProbeConfig: httpProbe,
  HostnameConfig: hostname,
  KubeSpanConfig: kubeSpan,
  Layer2VIPConfig: checkVip,
  LinkAliasConfig: linkAlias,
  NetworkRuleConfig: networkRule,
  ResolverConfig: resolver,
  RoutingRuleConfig: routingRule,
  StaticHostConfig: staticHost,
  TCPProbeConfig: tcpProbe,
  TimeSyncConfig: timeSync,
};
