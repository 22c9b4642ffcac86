import type { Contract } from "../../../versions/contract.ts";
import { generationOf, loadConfig } from "../../patch/patch.ts";
import { cidrContains, tryParsePrefix } from "../../scalars/ip.ts";
import { machineAddresses, machineRoutes } from "./addresses.ts";
import { hazardOf, type ConfigParts, type Hazard, type HazardFinding, type Located } from "./hazard.ts";

/**
 * What leads to a machine by the config that it runs, and by the wanted one no more. A place is that in the config that runs.
 *
 * Who calls from where only the network knows: any network that no fixed route leads to any more counts. What DHCP would give in its place nobody knows.
 *
 * @param reachedAt the address at which the machine is reached
 * @throws ConfigError when one of them cannot be read
 */
export function removedAccess(
  wanted: string,
  live: string,
  { contract, reachedAt }: { readonly contract?: Contract; readonly reachedAt: string },
): readonly Hazard[] {
  const [before, after] = [partsOf(live, contract), partsOf(wanted, contract)];
  return [...removedAddress(before, after, reachedAt), ...removedRoutes(before, after)].map(hazardOf);
}

/** The same of static network settings in META, which Talos follows beside the config. */
export function removedFromMeta(wanted: string | undefined, live: string | undefined, reachedAt: string): readonly Hazard[] {
  const place = { document: "META", path: "" };
  const values = (key: string, text = ""): readonly string[] =>
    [...text.matchAll(new RegExp(`\\b${key}"?: *"?([0-9a-fA-F:.]+)`, "g"))].map(([, value = ""]) => value);
  const isFixedIn = (text?: string): boolean => values("address", text).some((one) => cidrContains(hostOf(reachedAt), one));
  const found = isFixedIn(live) && !isFixedIn(wanted) ? [addressRemoved(place, reachedAt)] : [];
  const [gateway] = values("gateway", live);
  const hasWay = gateway === undefined || values("gateway", wanted).length > 0;
  return [...found, ...(hasWay ? [] : [routeRemoved(place, gateway.includes(":") ? "::/0" : "0.0.0.0/0")])].map(hazardOf);
}

function hostOf(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}

function partsOf(text: string, contract: Contract | undefined): ConfigParts {
  const all = loadConfig(text, generationOf(contract));
  return {
    v1alpha1: all.find(({ shape }) => shape.kind === "v1alpha1")?.members,
    documents: all.filter(({ shape }) => shape.kind !== "v1alpha1"),
  };
}

function removedAddress(before: ConfigParts, after: ConfigParts, reachedAt: string): readonly HazardFinding[] {
  const placeIn = (parts: ConfigParts): Located | undefined =>
    machineAddresses(parts).find(({ path, text }) => !path.endsWith(".gateway") && cidrContains(hostOf(reachedAt), text));
  const place = placeIn(before);
  if (place === undefined || placeIn(after) !== undefined) return [];
  return [addressRemoved(place, reachedAt)];
}

function removedRoutes(before: ConfigParts, after: ConfigParts): readonly HazardFinding[] {
  const left = machineRoutes(after).map(({ text }) => text);
  return machineRoutes(before)
    .filter(({ text }) => !left.some((other) => covers(other, text)))
    .map((place) => routeRemoved(place, place.text));
}

type Place = Pick<Located, "document" | "path">;

function addressRemoved({ document, path }: Place, address: string): HazardFinding {
  const message = `the address ${address} goes away, so the machine is not reached there any more; keep it, or change the address of the machine`;
  return { code: "ADDRESS_REMOVED", document, path, message };
}

function routeRemoved({ document, path }: Place, network: string): HazardFinding {
  const message = `the route to ${network} goes away, so nobody from there reaches the machine; keep it, or a route to a network that holds it`;
  return { code: "ROUTE_REMOVED", document, path, message };
}

function covers(outer: string, inner: string): boolean {
  const [a, b] = [tryParsePrefix(outer), tryParsePrefix(inner)];
  return a !== undefined && b !== undefined && a.length <= b.length && cidrContains(outer, inner.slice(0, inner.lastIndexOf("/")));
}
