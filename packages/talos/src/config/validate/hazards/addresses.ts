import type { ConfigMap } from "../../document/value.ts";
import { listAt, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import { labelOf, type ConfigParts, type Located } from "./hazard.ts";

/** Every address that the machine itself or its way out would have: fixed and shared addresses, and gateways. Prefix lengths are cut off. */
export function machineAddresses(input: ConfigParts): readonly Located[] {
  const found: Located[] = [];
  const add = (document: string, path: string, text: string): void => {
    const address = text.split("/")[0] ?? "";
    if (address !== "") found.push({ document, path, text: address });
  };
  mapsAt(input.v1alpha1, "machine", "network", "interfaces").forEach((link, index) => {
    const base = `machine.network.interfaces[${index}]`;
    legacyAddresses(link, base, add);
    mapsAt(link, "vlans").forEach((vlan, at) => legacyAddresses(vlan, `${base}.vlans[${at}]`, add));
  });
  for (const document of input.documents) {
    const label = labelOf(document);
    const isShared = document.shape.kind === "Layer2VIPConfig" || document.shape.kind === "HCloudVIPConfig";
    if (isShared) add(label, "name", textAt(document.members, "name"));
    addressesOfLink(document.members, label, "", add);
    const peer = mapAt(document.members, "peer");
    if (peer !== undefined) addressesOfLink(peer, label, "peer.", add);
  }
  return found;
}

type Add = (document: string, path: string, text: string) => void;

function legacyAddresses(link: ConfigMap, base: string, add: Add): void {
  textsAt(link, "addresses").forEach((address, index) => add("v1alpha1", `${base}.addresses[${index}]`, address));
  add("v1alpha1", `${base}.cidr`, textAt(link, "cidr"));
  add("v1alpha1", `${base}.vip.ip`, textAt(link, "vip", "ip"));
  mapsAt(link, "routes").forEach((route, index) => add("v1alpha1", `${base}.routes[${index}].gateway`, textAt(route, "gateway")));
}

function addressesOfLink(link: ConfigMap, label: string, base: string, add: Add): void {
  listAt(link, "addresses").forEach((item, index) => {
    if (item instanceof Map) add(label, `${base}addresses[${index}].address`, textAt(item, "address"));
  });
  mapsAt(link, "routes").forEach((route, index) => add(label, `${base}routes[${index}].gateway`, textAt(route, "gateway")));
}

/** The networks that fixed routes of the main table lead to. */
export function machineRoutes({ v1alpha1, documents }: ConfigParts): readonly Located[] {
  const legacy = mapsAt(v1alpha1, "machine", "network", "interfaces").flatMap((link, index) => {
    const base = `machine.network.interfaces[${index}].`;
    const vlans = mapsAt(link, "vlans").flatMap((vlan, at) => routesOf(vlan, "v1alpha1", `${base}vlans[${at}].`, "network"));
    return [...routesOf(link, "v1alpha1", base, "network"), ...vlans];
  });
  return [...legacy, ...documents.flatMap((document) => routesOf(document.members, labelOf(document), "", "destination"))];
}

/** A route that names no network is the default one, of the family of its gateway. */
function routesOf(link: ConfigMap, document: string, base: string, key: "network" | "destination"): readonly Located[] {
  return mapsAt(link, "routes").flatMap((route, index) => {
    const fallback = textAt(route, "gateway").includes(":") ? "::/0" : "0.0.0.0/0";
    const isMain = ["", "main"].includes(textAt(route, "table"));
    return isMain ? [{ document, path: `${base}routes[${index}]`, text: textAt(route, key) || fallback }] : [];
  });
}
