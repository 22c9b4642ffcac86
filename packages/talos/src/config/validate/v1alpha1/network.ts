import type { ConfigMap, ConfigValue } from "../../document/value.ts";
import { integerAt, isOn, isThere, listAt, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import type { Report } from "../report.ts";
import { hasPort, isCidr, isPlainAddress } from "../text/address.ts";
import { decodedLength } from "../text/base64.ts";
import { quoted } from "../text/quote.ts";
import { checkBond } from "./bond.ts";

const exclusive = "config sections are mutually exclusive";
const required = "required either config section to be set";

/** The section `machine.network`. */
export function checkNetwork(network: ConfigMap | undefined, report: Report): void {
  const devices = listAt(network, "interfaces");
  const members = checkMembership(devices, report);
  for (const device of devices) {
    if (!(device instanceof Map)) report.error("empty device");
    else if (!isOn(device, "ignore")) checkDevice(device, members, report);
  }
  const kubeSpan = mapAt(network, "kubespan");
  const mtu = integerAt(kubeSpan, "mtu");
  report.errorIf(isOn(kubeSpan, "enabled") && mtu !== 0n && mtu < 1280n, "kubespan link MTU must be at least 1280");
}

/** Which links are part of a bond or a bridge; a link can be part of one only. */
function checkMembership(devices: readonly ConfigValue[], report: Report): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const device of devices) {
    if (!(device instanceof Map)) continue;
    const name = textAt(device, "interface");
    const hasBond = isThere(device, "bond");
    const hasBridge = isThere(device, "bridge");
    report.errorIf(hasBond && hasBridge, `interface has both bridge and bond sections set ${quoted(name)}: ${exclusive}`);
    const bonded = textsAt(device, "bond", "interfaces");
    report.errorIf(
      bonded.length > 0 && listAt(device, "bond", "deviceSelectors").length > 0,
      `interface ${quoted(name)} has both interfaces and selectors set: ${exclusive}`,
    );
    for (const member of hasBridge ? textsAt(device, "bridge", "interfaces") : bonded) {
      const other = members.get(member);
      report.errorIf(
        other !== undefined && other !== name,
        `interface ${quoted(member)} is declared as part of two separate links: ${quoted(other ?? "")} and ${quoted(name)}`,
      );
      members.set(member, name);
    }
  }
  return members;
}

function checkDevice(device: ConfigMap, members: ReadonlyMap<string, string>, report: Report): void {
  const name = textAt(device, "interface");
  const selector = mapAt(device, "deviceSelector");
  const either = "[networking.os.device.interface], [networking.os.device.deviceSelector]";
  report.errorIf(name === "" && selector === undefined, `${either}: ${required}`);
  report.errorIf(name !== "" && selector !== undefined, `${either}: ${exclusive}`);
  report.errorIf(
    selector !== undefined && isEmptySelector(selector),
    "[networking.os.device.deviceSelector]: config section should contain at least one field",
  );
  const bond = mapAt(device, "bond");
  if (bond !== undefined) checkBond(bond, report);
  const wireguard = mapAt(device, "wireguard");
  if (wireguard !== undefined) checkWireguard(wireguard, report);
  for (const vlan of mapsAt(device, "vlans")) checkVlan(vlan, `${name}.${integerAt(vlan, "vlanId")}`, report);
  checkAddressing(device, name, members, report);
  mapsAt(device, "routes").forEach((route, index) => checkRoute(route, index, report));
}

function isEmptySelector(selector: ConfigMap): boolean {
  return [...selector].every(([field, value]) => field !== "physical" && (value === "" || value === null));
}

function checkWireguard(wireguard: ConfigMap, report: Report): void {
  const own = whyNotKey(textAt(wireguard, "privateKey"));
  if (own !== undefined) report.error(`private key is invalid: ${own}`);
  for (const peer of mapsAt(wireguard, "peers")) {
    const refusal = whyNotKey(textAt(peer, "publicKey"));
    if (refusal !== undefined) report.error(`public key invalid: ${refusal}`);
    const endpoint = textAt(peer, "endpoint");
    report.errorIf(endpoint !== "" && !hasPort(endpoint), `peer endpoint ${quoted(endpoint)} is invalid`);
    for (const network of textsAt(peer, "allowedIPs")) {
      report.errorIf(!isCidr(network), `peer allowed IP ${quoted(network)} is invalid: invalid CIDR address: ${network}`);
    }
  }
}

/** Talos names the key here when only its length is wrong. We do not: a private key would be printed. */
function whyNotKey(key: string): string | undefined {
  const decoded = decodedLength(key);
  if ("refusal" in decoded) return decoded.refusal;
  return decoded.bytes === 32 ? undefined : `wrong key ${quoted(key)} length: ${decoded.bytes}`;
}

function checkVlan(vlan: ConfigMap, link: string, report: Report): void {
  const cidr = textAt(vlan, "cidr");
  const addresses = textsAt(vlan, "addresses");
  const title = "[networking.os.device.vlan";
  report.errorIf(addresses.length > 0 && cidr !== "", `${title}] ${link}: vlan can't have both .cidr and .addresses set`);
  const refusal = cidr === "" ? undefined : whyNotAddressOrCidr(cidr);
  if (refusal !== undefined) report.error(`${title}.CIDR] ${link}: ${refusal}`);
  report.error(...addresses.flatMap(whyNotAddressOrCidrList).map((why) => `${title}.addresses] ${link}: ${why}`));
}

function checkAddressing(device: ConfigMap, name: string, members: ReadonlyMap<string, string>, report: Report): void {
  const cidr = textAt(device, "cidr");
  const addresses = textsAt(device, "addresses");
  const title = "[networking.os.device";
  report.errorIf(
    members.has(name) && (isOn(device, "dhcp") || cidr !== "" || addresses.length > 0 || isThere(device, "vip")),
    `${title}] ${quoted(name)}: bonded/bridged interface shouldn't have any addressing methods configured`,
  );
  report.errorIf(addresses.length > 0 && cidr !== "", `${title}] ${quoted(name)}: interface can't have both .cidr and .addresses set`);
  if (cidr !== "") {
    const refusal = whyNotAddressOrCidr(cidr);
    if (refusal !== undefined) report.error(`${title}.CIDR] ${quoted(name)}: ${refusal}`);
    report.warning(`${quoted(name)}: machine.network.interface.cidr is deprecated, please use machine.network.interface.addresses`);
  }
  report.error(...addresses.flatMap(whyNotAddressOrCidrList).map((why) => `${title}.addresses] ${quoted(name)}: ${why}`));
  const vip = textAt(device, "vip", "ip");
  report.errorIf(isThere(device, "vip") && !isPlainAddress(vip), `${title}.vip] failed to parse ${quoted(vip)} as IP address`);
}

function checkRoute(route: ConfigMap, index: number, report: Report): void {
  const title = `[networking.os.device.route[${index}]`;
  const network = textAt(route, "network");
  const gateway = textAt(route, "gateway");
  const source = textAt(route, "source");
  const invalid = "invalid network address";
  report.errorIf(network !== "" && !isCidr(network), `${title}.network] ${quoted(network)}: ${invalid}`);
  report.errorIf(gateway !== "" && !isPlainAddress(gateway), `${title}.gateway] ${quoted(gateway)}: ${invalid}`);
  report.errorIf(gateway === "" && network === "", `${title}]: either network or gateway should be set`);
  report.errorIf(source !== "" && !isPlainAddress(source), `${title}.source] ${quoted(source)}: ${invalid}`);
}

function whyNotAddressOrCidr(text: string): string | undefined {
  if (text.includes("/")) return isCidr(text) ? undefined : `invalid CIDR address: ${text}`;
  return isPlainAddress(text) ? undefined : `failed to parse IP address ${quoted(text)}`;
}

function whyNotAddressOrCidrList(text: string): readonly string[] {
  const refusal = whyNotAddressOrCidr(text);
  return refusal === undefined ? [] : [refusal];
}
