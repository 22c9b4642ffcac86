import { cidrContains, cidrsOverlap, tryParseAddress, tryParsePrefix } from "../../scalars/ip.ts";
import { textAt, textsAt } from "../access.ts";
import { hostnameOf, parseUrl, portOf, type Url } from "../text/url.ts";
import { machineAddresses } from "./addresses.ts";
import { clusterOf, documentOf, isControlPlane, type HazardFinding, type HazardInput, type Located } from "./hazard.ts";

/** What Talos gives pods and services when a config says nothing. */
const defaults = { podSubnets: "10.244.0.0/16", serviceSubnets: "10.96.0.0/12" } as const;

type SubnetField = keyof typeof defaults;

/** Networks of pods or services, from where they are said. */
function subnets(input: HazardInput, field: SubnetField): readonly Located[] {
  for (const [document, members, path] of [
    ["KubeNetworkConfig", documentOf(input, "KubeNetworkConfig"), field],
    ["v1alpha1", clusterOf(input), `network.${field}`],
  ] as const) {
    const texts = textsAt(members, ...path.split("."));
    const base = document === "v1alpha1" ? "cluster." : "";
    if (texts.length > 0) return texts.map((text, index) => ({ document, path: `${base}${path}[${index}]`, text }));
  }
  const isClusterSaid = clusterOf(input) !== undefined;
  return isClusterSaid ? [{ document: "v1alpha1", path: `cluster.network.${field}`, text: defaults[field] }] : [];
}

/** Hazards of the networks of pods and services. */
export function subnetHazards(input: HazardInput): readonly HazardFinding[] {
  const pods = subnets(input, "podSubnets");
  const services = subnets(input, "serviceSubnets");
  return [...pods, ...services]
    .filter(({ text }) => tryParsePrefix(text) === undefined)
    .map(({ document, path, text }): HazardFinding => ({
      code: "CLUSTER_SUBNET_INVALID",
      document,
      path,
      message: `${text} is not a network, so Kubernetes does not start with it; write it as address/length`,
    }))
    .concat(services.flatMap(tooLarge), overlaps(pods, services), addressHazards(input, pods, services));
}

/** The API server takes at most 20 bits of addresses for services. */
function tooLarge({ document, path, text }: Located): HazardFinding[] {
  const prefix = tryParsePrefix(text);
  if (prefix === undefined) return [];
  const shortest = (prefix.address.family === 4 ? 32 : 128) - 20;
  if (prefix.length >= shortest) return [];
  const message = `${text} holds more addresses than kube-apiserver takes for services, which then does not start; use a length of ${shortest} or more`;
  return [{ code: "SERVICE_SUBNET_TOO_LARGE", document, path, message }];
}

/** kube-apiserver starts only if the first network of services is of the family of the address that it is reached at. */
export function familyHazards(input: HazardInput): readonly HazardFinding[] {
  const [first] = subnets(input, "serviceSubnets");
  const prefix = first === undefined ? undefined : tryParsePrefix(first.text);
  if (first === undefined || prefix === undefined || input.addresses === undefined || !isControlPlane(input)) return [];
  const { family } = prefix.address;
  const all = [...input.addresses, ...machineAddresses(input).map(({ text }) => text)];
  if (all.some((text) => tryParseAddress(text)?.family === family)) return [];
  const { document, path } = first;
  const message = `the machine has no IPv${family} address, so kube-apiserver does not start; put an IPv${family === 4 ? 6 : 4} network first`;
  return [{ code: "SERVICE_FAMILY_ABSENT", document, path, message }];
}

function overlaps(pods: readonly Located[], services: readonly Located[]): HazardFinding[] {
  return services.flatMap(({ document, path, text }) =>
    pods
      .filter((pod) => cidrsOverlap(pod.text, text))
      .map((pod): HazardFinding => ({
        code: "CLUSTER_SUBNETS_OVERLAP",
        document,
        path,
        message: `services (${text}) and pods (${pod.text}) share addresses, so traffic reaches the wrong one; choose networks that do not overlap`,
      })),
  );
}

function addressHazards(input: HazardInput, pods: readonly Located[], services: readonly Located[]): HazardFinding[] {
  const endpoint = endpointOf(input);
  const host = endpoint?.url === undefined ? undefined : hostnameOf(endpoint.url);
  const all = [...machineAddresses(input), ...(endpoint === undefined || host === undefined ? [] : [{ ...endpoint.place, text: host }])];
  return all.flatMap(({ document, path, text }) => {
    const inside = [
      ...pods.map((subnet) => ({ ...subnet, of: "pods" })),
      ...services.map((subnet) => ({ ...subnet, of: "services" })),
    ].find((subnet) => cidrContains(subnet.text, text));
    if (inside === undefined) return [];
    const message = `${text} lies in ${inside.text}, the network of ${inside.of}, so the machine loses its way to it; move ${inside.of} or the address elsewhere`;
    return [{ code: "ADDRESS_IN_CLUSTER_SUBNET", document, path, message } satisfies HazardFinding];
  });
}

interface Endpoint {
  readonly place: Located;
  readonly url: Url | undefined;
}

function endpointOf(input: HazardInput): Endpoint | undefined {
  const own = textAt(documentOf(input, "KubeClusterConfig"), "endpoint");
  const text = own === "" ? textAt(clusterOf(input), "controlPlane", "endpoint") : own;
  if (text === "") return undefined;
  const parsed = parseUrl(text);
  const place =
    own === "" ? { document: "v1alpha1", path: "cluster.controlPlane.endpoint" } : { document: "KubeClusterConfig", path: "endpoint" };
  return { place: { ...place, text }, url: "url" in parsed ? parsed.url : undefined };
}

/** Hazards of the address at which machines look for the cluster. One that is no URL is an error of Talos already. */
export function endpointHazards(input: HazardInput): readonly HazardFinding[] {
  const endpoint = endpointOf(input);
  if (endpoint?.url === undefined) return [];
  const { url } = endpoint;
  const { document, path } = endpoint.place;
  const host = hostnameOf(url);
  const address = tryParseAddress(host);
  const isLocal = host === "localhost" || address?.value === 0n || cidrContains("127.0.0.0/8", host) || cidrContains("::1/128", host);
  const found: HazardFinding[] = [];
  if (url.scheme !== "https") {
    const message = `the API server speaks https only, so nothing answers ${url.scheme === "" ? "without a scheme" : `over ${url.scheme}`}; write https://`;
    found.push({ code: "ENDPOINT_NOT_HTTPS", document, path, message });
  }
  if (portOf(url) === "") {
    const message = "without a port, machines look for the cluster at port 443; write the port, mostly 6443";
    found.push({ code: "ENDPOINT_WITHOUT_PORT", document, path, message });
  }
  if (isLocal) {
    const message = `${host} is every machine itself, so workers never find the cluster; write an address that all machines reach`;
    found.push({ code: "ENDPOINT_LOCAL", document, path, message });
  }
  return found;
}
