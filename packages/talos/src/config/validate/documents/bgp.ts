import type { ConfigMap } from "../../document/value.ts";
import { tryParseDuration } from "../../scalars/duration.ts";
import { cidrsOverlap, tryParseAddress, tryParsePrefix, type Prefix } from "../../scalars/ip.ts";
import { integerAt, isThere, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import type { Report } from "../report.ts";
import { quoted } from "../text/quote.ts";
import type { DocumentRule } from "./rule.ts";

/** A routing instance that speaks BGP. */
export const bgpInstance: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  report.errorIf(name === "", "name must be specified");
  report.errorIf(integerAt(members, "localASN") === 0n, "localASN must be specified");
  report.errorIf(tryParseAddress(textAt(members, "routerID"))?.family === 6, "routerID must be an IPv4 address");
  const neighbors = mapsAt(members, "neighbors");
  if (neighbors.length === 0) report.warning("BGPInstanceConfig has no neighbors configured");
  const seen = new Set<string>();
  neighbors.forEach((neighbor, index) => {
    const where = `neighbor[${index}]`;
    const address = textAt(neighbor, "address");
    const link = textAt(neighbor, "link");
    const isOne = (address === "") !== (link === "");
    report.errorIf(!isOne, `${where}: exactly one of address or link must be set`);
    checkNeighbor(neighbor, where, textAt(members, "vrf"), report);
    if (!isOne) return;
    report.errorIf(seen.has(address || link), `${where}: duplicate neighbor ${quoted(address || link)}`);
    seen.add(address || link);
  });
  checkImports(name, mapsAt(members, "importRoutes"), report);
};

function checkNeighbor(neighbor: ConfigMap, where: string, vrf: string, report: Report): void {
  const isNegative = (...path: readonly string[]): boolean => (tryParseDuration(textAt(neighbor, ...path)) ?? 0n) < 0n;
  report.errorIf(isNegative("holdTime"), `${where}: holdTime must not be negative`);
  if (mapAt(neighbor, "bfd") === undefined) return;
  report.errorIf(vrf !== "", `${where}: bfd is not supported for VRF-bound BGP instances`);
  for (const field of ["transmitInterval", "receiveInterval"]) {
    report.errorIf(isNegative("bfd", field), `${where}: bfd.${field} must not be negative`);
  }
}

function checkImports(instance: string, routes: readonly ConfigMap[], report: Report): void {
  const sources = new Set<string>();
  const taken: { readonly text: string; readonly route: number }[] = [];
  routes.forEach((route, index) => {
    const where = `importRoutes[${index}]`;
    const source = textAt(route, "bgpInstance");
    if (source === "") report.error(`${where}: bgpInstance must be specified`);
    else report.errorIf(source === instance, `${where}: cannot import from the same BGP instance ${quoted(instance)}`);
    checkPrefixes(route, where, report);
    report.errorIf(source !== "" && sources.has(source), `${where}: duplicate source BGP instance ${quoted(source)}`);
    sources.add(source);
    for (const text of textsAt(route, "prefixes").filter(isMasked)) {
      for (const other of taken.filter(({ route: of }) => of !== index)) {
        report.errorIf(
          cidrsOverlap(other.text, text),
          `${where}: prefix ${text} overlaps importRoutes[${other.route}] prefix ${other.text}`,
        );
      }
      taken.push({ text, route: index });
    }
  });
}

function checkPrefixes(route: ConfigMap, where: string, report: Report): void {
  const prefixes = textsAt(route, "prefixes");
  report.errorIf(!isThere(route, "prefixes") || prefixes.length === 0, `${where}: at least one prefix must be specified`);
  prefixes.forEach((text, index) => {
    if (text === "") return report.error(`${where}.prefixes[${index}]: invalid prefix`);
    report.errorIf(!isMasked(text), `${where}.prefixes[${index}]: prefix ${text} must be masked`);
    prefixes.slice(0, index).forEach((other, before) => {
      report.errorIf(
        other !== "" && cidrsOverlap(other, text),
        `${where}.prefixes[${index}]: prefix ${text} overlaps prefixes[${before}] ${other}`,
      );
    });
  });
}

function isMasked(text: string): boolean {
  const prefix = tryParsePrefix(text);
  return prefix !== undefined && hasNoHostBits(prefix);
}

/** Whether the address of a network is its first one. */
export function hasNoHostBits({ address, length }: Prefix): boolean {
  const hostBits = BigInt((address.family === 4 ? 32 : 128) - length);
  return (address.value >> hostBits) << hostBits === address.value;
}
