import type { ConfigMap } from "../../document/value.ts";
import { tryParseDuration } from "../../scalars/duration.ts";
import { tryParseAddress, tryParsePrefix } from "../../scalars/ip.ts";
import { integerAt, isThere, listAt, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import type { Report } from "../report.ts";
import { decodedLength } from "../text/base64.ts";
import { quoted } from "../text/quote.ts";
import type { DocumentRule } from "./rule.ts";

/** What all links have: addresses and routes. */
function checkLink(link: ConfigMap | undefined, report: Report): void {
  mapsAt(link, "addresses").forEach((item, index) => {
    const address = textAt(item, "address");
    if (address === "") report.error(`address ${index} must be specified`);
    else report.errorIf(tryParsePrefix(address)?.address.value === 0n, `address ${index} must be a valid IP address`);
  });
  mapsAt(link, "routes").forEach((route, index) => {
    report.errorIf(
      tryParsePrefix(textAt(route, "destination"))?.address.value === 0n,
      `route ${index} destination must be a valid IP prefix`,
    );
    for (const end of ["gateway", "source"]) {
      report.errorIf(tryParseAddress(textAt(route, end))?.value === 0n, `route ${index} ${end} must be a valid IP address`);
    }
  });
}

function checkName(members: ConfigMap, report: Report): void {
  report.errorIf(textAt(members, "name") === "", "name must be specified");
}

const plainLink: DocumentRule = (members, report) => {
  checkName(members, report);
  checkLink(members, report);
};

/** Modes in which one link at a time is active: only there a primary one has a meaning. */
const modesWithPrimary = ["active-backup", "balance-tlb", "balance-alb"];

/** Since 1.14. */
function checkPrimary(members: ConfigMap, report: Report): void {
  const mode = textAt(members, "bondMode");
  const usesPrimary = modesWithPrimary.includes(mode);
  if (isThere(members, "primary")) {
    const primary = textAt(members, "primary");
    if (primary === "") report.error("primary link name can't be empty");
    else report.errorIf(!textsAt(members, "links").includes(primary), `primary link ${quoted(primary)} is not in the list of bonded links`);
    report.errorIf(mode !== "" && !usesPrimary, `primary link is not supported in ${quoted(mode)} bond mode`);
  } else if (isThere(members, "primaryReselect") && usesPrimary) {
    report.warning("primaryReselect has no effect unless primary is specified");
  }
}

const bond: DocumentRule = (members, report, { generation }) => {
  checkName(members, report);
  report.errorIf(listAt(members, "links").length === 0, "at least one link must be specified");
  report.errorIf(!isThere(members, "bondMode"), "bond mode must be specified");
  if (textAt(members, "bondMode") === "802.3ad") {
    for (const field of ["miimon", "updelay", "downdelay"]) {
      if (!isThere(members, field)) report.warning(`${field} was not specified for 802.3ad bond`);
    }
  }
  if (generation === "1.14") checkPrimary(members, report);
  checkLink(members, report);
};

const vlan: DocumentRule = (members, report) => {
  checkName(members, report);
  const id = integerAt(members, "vlanID");
  report.errorIf(id === 0n || id > 4094n, "vlanID must be specified and between 1 and 4094");
  report.errorIf(textAt(members, "parent") === "", "parent must be specified");
  report.errorIf(
    isThere(members, "vlanMode") && !["802.1q", "802.1ad"].includes(textAt(members, "vlanMode")),
    "vlanMode must be either '802.1q' or '802.1ad'",
  );
  checkLink(members, report);
};

const vrf: DocumentRule = (members, report) => {
  checkName(members, report);
  const table = textAt(members, "table") || "unspec";
  report.errorIf(["unspec", "local", "main", "default"].includes(table), `cannot create vrf with reserved table ${table}`);
  checkLink(members, report);
};

const wireguard: DocumentRule = (members, report) => {
  checkName(members, report);
  const own = textAt(members, "privateKey");
  const refusal = own === "" ? undefined : whyNotKey(own);
  report.errorIf(own === "", "wireguard private key must be specified");
  if (refusal !== undefined) report.error(`wireguard private key is invalid: ${refusal}`);
  const port = integerAt(members, "listenPort");
  report.errorIf(port < 0n || port > 65_535n, "wireguard listen port must be between 0 and 65535");
  mapsAt(members, "peers").forEach((peer, index) => {
    const where = `(peer index ${index})`;
    const key = textAt(peer, "publicKey");
    const bad = key === "" ? undefined : whyNotKey(key);
    report.errorIf(key === "", `wireguard peer public key must be specified ${where}`);
    if (bad !== undefined) report.error(`wireguard peer public key is invalid ${where}: ${bad}`);
    const shared = textAt(peer, "presharedKey");
    const badShared = shared === "" ? undefined : whyNotKey(shared);
    if (badShared !== undefined) report.error(`wireguard peer preshared key is invalid ${where}: ${badShared}`);
    report.errorIf(
      (tryParseDuration(textAt(peer, "persistentKeepaliveInterval")) ?? 0n) < 0n,
      `wireguard peer persistent keepalive interval cannot be negative ${where}`,
    );
  });
  checkLink(members, report);
};

function whyNotKey(text: string): string | undefined {
  const decoded = decodedLength(text);
  if ("refusal" in decoded) return decoded.refusal;
  return decoded.bytes === 32 ? undefined : "invalid wireguard key length";
}

const veth: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  const peer = textAt(members, "peer", "name");
  for (const [field, text] of [
    ["name", name],
    ["peer name", peer],
  ] as const) {
    const refusal = whyNotInterfaceName(text);
    if (refusal !== undefined) report.error(`${field} ${refusal}`);
  }
  report.errorIf(name !== "" && name === peer, "name and peer name must be different");
  checkLink(members, report);
  checkLink(mapAt(members, "peer"), report);
};

function whyNotInterfaceName(text: string): string | undefined {
  if (text === "") return "must be specified";
  if (Buffer.byteLength(text) > 15) return "must not exceed 15 bytes";
  if (text === "." || text === "..") return `must not be ${quoted(text)}`;
  if (/[/:]/.test(text)) return "must not contain '/' or ':'";
  return /[^\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(text) ? "must not contain whitespace or non-printable characters" : undefined;
}

/** Links, real and virtual. */
export const linkRules: Readonly<Record<string, DocumentRule>> = {
  BondConfig: bond,
  BridgeConfig: plainLink,
  DummyLinkConfig: plainLink,
  LinkConfig: plainLink,
  VLANConfig: vlan,
  VRFConfig: vrf,
  VethConfig: veth,
  WireguardConfig: wireguard,
};
