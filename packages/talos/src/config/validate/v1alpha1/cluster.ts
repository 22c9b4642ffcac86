import type { ConfigMap } from "../../document/value.ts";
import { isOn, isThere, listAt, mapAt, mapsAt, textAt, textsAt } from "../access.ts";
import type { Report } from "../report.ts";
import type { RuleSet } from "../rule-set.ts";
import { isSubnetOrAddress } from "../text/address.ts";
import { quoted } from "../text/quote.ts";
import { parseRequestUrl, refusalOfEndpoint } from "../text/url.ts";
import { authorizerTypes, checkPodResources } from "./components.ts";

/** The section `cluster`. */
export function checkCluster(cluster: ConfigMap | undefined, isControlPlane: boolean, { generation }: RuleSet, report: Report): void {
  if (cluster === undefined) return report.error("cluster instructions are required");
  if (generation === "1.13" || isThere(cluster, "controlPlane")) {
    if (!isThere(cluster, "controlPlane", "endpoint")) return report.error("cluster controlplane endpoint is required");
    const refusal = refusalOfEndpoint(textAt(cluster, "controlPlane", "endpoint"));
    if (refusal !== undefined) report.error(`invalid controlplane endpoint: ${refusal}`);
  }
  const domain = textAt(cluster, "network", "dnsDomain");
  report.errorIf(domain !== "" && !isDnsName(domain), `${quoted(domain)} is not a valid DNS name`);
  checkExternalCloudProvider(mapAt(cluster, "externalCloudProvider"), report);
  const etcd = mapAt(cluster, "etcd");
  if (etcd !== undefined) {
    if (isControlPlane) checkEtcd(etcd, report);
    else report.error("etcd config is only allowed on control plane machines");
  }
  report.errorIf(
    textAt(cluster, "ca", "key") !== "" && !isControlPlane,
    "cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)",
  );
  checkInlineManifests(cluster, report);
  checkDiscovery(cluster, report);
  const apiServer = whyNotApiServer(mapAt(cluster, "apiServer"));
  if (apiServer !== undefined) report.error(apiServer);
  for (const [section, title] of [
    ["controllerManager", "controller-manager"],
    ["scheduler", "scheduler"],
  ] as const) {
    const refusal = checkPodResources(mapAt(cluster, section, "resources"));
    if (refusal !== undefined) report.error(`${title} resource validation failed: ${refusal}`);
  }
}

function isDnsName(name: string): boolean {
  return (
    Buffer.byteLength(name.replaceAll(".", "")) <= 255 &&
    /^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}(?:\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?$/.test(name)
  );
}

function checkExternalCloudProvider(provider: ConfigMap | undefined, report: Report): void {
  const manifests = textsAt(provider, "manifests");
  if (!isOn(provider, "enabled") && manifests.length > 0)
    return report.error("external cloud provider is disabled, but manifests are provided");
  for (const url of manifests) {
    const refusal = refusalOfEndpoint(url);
    if (refusal !== undefined) report.error(`invalid external cloud provider manifest url ${quoted(url)}: ${refusal}`);
  }
}

function checkEtcd(etcd: ConfigMap, report: Report): void {
  const advertised = textsAt(etcd, "advertisedSubnets");
  const subnet = textAt(etcd, "subnet");
  const listening = textsAt(etcd, "listenSubnets");
  report.errorIf(!isThere(etcd, "ca"), "key/cert combination should not be empty");
  report.errorIf(subnet !== "" && advertised.length > 0, "etcd subnet can't be set when advertised subnets are set");
  const wanted = advertised.length > 0 ? advertised : subnet === "" ? [] : [subnet];
  for (const [name, subnets] of [
    ["advertised", wanted],
    ["listen", listening.length > 0 ? listening : advertised],
  ] as const) {
    for (const text of subnets.map((item) => item.replace(/^!/, ""))) {
      report.errorIf(!isSubnetOrAddress(text), `etcd ${name} subnet is not valid: ${quoted(text)}`);
    }
  }
}

function checkInlineManifests(cluster: ConfigMap, report: Report): void {
  const seen = new Set<string>();
  for (const manifest of mapsAt(cluster, "inlineManifests")) {
    const name = textAt(manifest, "name");
    report.errorIf(name.trim() === "", "inline manifest name can't be empty");
    report.errorIf(seen.has(name), `inline manifest name ${quoted(name)} is duplicate`);
    seen.add(name);
  }
}

function checkDiscovery(cluster: ConfigMap, report: Report): void {
  const discovery = mapAt(cluster, "discovery");
  if (!isOn(discovery, "enabled") || isOn(discovery, "registries", "service", "disabled")) return;
  const endpoint = textAt(discovery, "registries", "service", "endpoint");
  if (endpoint !== "") {
    const parsed = parseRequestUrl(endpoint);
    if ("refusal" in parsed) report.error(`cluster discovery service registry endpoint is invalid: ${parsed.refusal}`);
    else report.errorIf(!["", "/"].includes(parsed.url.path), "cluster discovery service path should be empty");
  }
  report.errorIf(textAt(cluster, "id") === "", "cluster discovery service requires .cluster.id");
  report.errorIf(textAt(cluster, "secret") === "", "cluster discovery service requires .cluster.secret");
}

/** The first thing that is wrong with the API server: Talos looks no further. */
function whyNotApiServer(apiServer: ConfigMap | undefined): string | undefined {
  if (isThere(apiServer, "authorizationConfig")) {
    for (const argument of mapAt(apiServer, "extraArgs")?.keys() ?? []) {
      if (argument === "authorization-mode")
        return "authorization-mode cannot be used in conjunction with AuthorizationConfig, use eitherr AuthorizationConfig or authorization-mode";
      if (argument.startsWith("authorization-webhook-"))
        return "authorization-webhook-* flags cannot be used in conjunction with AuthorizationConfig, use either AuthorizationConfig or authorization-webhook-* flags";
    }
  }
  for (const authorizer of mapsAt(apiServer, "authorizationConfig")) {
    const refusal = whyNotAuthorizer(textAt(authorizer, "type"), textAt(authorizer, "name"));
    if (refusal !== undefined) return `apiserver authorization config validation failed: ${refusal}`;
  }
  const refusal = checkPodResources(mapAt(apiServer, "resources"));
  return refusal === undefined ? undefined : `apiserver resource validation failed: ${refusal}`;
}

function whyNotAuthorizer(type: string, name: string): string | undefined {
  if (type === "") return "authorizer type must be set";
  if (name === "") return "authorizer name must be set";
  return authorizerTypes.includes(type)
    ? undefined
    : `authorizer type ${type} is not allowed, allowed types are [${authorizerTypes.join(" ")}]`;
}

/** The network plugin of a control plane. */
export function checkCni(cni: ConfigMap | undefined, report: Report): void {
  const name = cni === undefined ? "flannel" : textAt(cni, "name");
  const urls = textsAt(cni, "urls");
  if (!["flannel", "none", "custom"].includes(name)) return report.error('cni name should be one of ["flannel", "custom", "none"]');
  if (name === "custom") {
    if (urls.length === 0) report.warning('"urls" field should not be empty for "custom" CNI');
  } else {
    report.errorIf(urls.length > 0, `"urls" field should be empty for "${name}" CNI`);
  }
  if (name === "flannel") return;
  report.errorIf(listAt(cni, "flannel", "extraArgs").length > 0, `"flanneldExtraArgs" field should be empty for "${name}" CNI`);
  report.errorIf(
    isOn(cni, "flannel", "kubeNetworkPoliciesEnabled"),
    `"flannelKubeNetworkPoliciesEnabled" should not be enabled for "${name}" CNI`,
  );
  if (name === "custom") report.error(...urls.flatMap((url) => refusalOfEndpoint(url) ?? []));
}
