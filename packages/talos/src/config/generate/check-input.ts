import { featuresOf } from "../../versions/contract.ts";
import { ConfigError } from "../errors.ts";
import { tryNormalizeUrl } from "../scalars/url.ts";
import { hostnameOf, parseUrl } from "../validate/text/url.ts";
import type { MachineConfigInput } from "./input.ts";

/** The endpoint as Talos keeps it: parsed, with the host apart. */
export interface Endpoint {
  readonly url: string;
  /** Host without port and brackets; `undefined` when the text is a bare address. */
  readonly host: string;
  readonly isIpv6: boolean;
}

/**
 * Refuses input that no node would accept. Addresses and names inside lists are left to validation.
 *
 * @throws ConfigError `INVALID_INPUT`
 */
export function checkInput(input: MachineConfigInput): Endpoint {
  const features = featuresOf(input.contract);
  if (input.clusterName === "") throw invalid("clusterName", "the cluster needs a name");
  if (input.kubernetesVersion === "" && features.kubernetesDocuments)
    throw invalid("kubernetesVersion", "this contract needs a Kubernetes version");
  if (features.kubernetesDocuments && (input.network !== undefined || input.userDisks !== undefined)) {
    throw invalid("network", "network and userDisks are documents of their own in this contract: send them as a patch");
  }
  if (input.cni?.urls !== undefined && input.cni.urls.length > 0 && input.cni.name !== "custom") {
    throw invalid("cni.urls", "manifest URLs need cni name custom");
  }
  return endpointOf(input.endpoint);
}

/** The endpoint as Talos reads it, which takes any URL. */
function endpointOf(text: string): Endpoint {
  const parsed = parseUrl(text);
  const url = tryNormalizeUrl(text);
  if ("refusal" in parsed || url === undefined)
    throw invalid("endpoint", "refusal" in parsed ? parsed.refusal : `parse ${JSON.stringify(text)}: not a URL`);
  const host = hostnameOf(parsed.url);
  return { url, host, isIpv6: host.includes(":") };
}

/**
 * Reads the endpoint of a cluster strictly, more so than Talos: `https`, a host, at most a port and nothing else (no user, path, query or fragment).
 *
 * @throws ConfigError `INVALID_INPUT`
 */
export function parseEndpoint(text: string): Endpoint {
  const match = /^https:\/\/(\[[0-9A-Fa-f:.]+(?:%25[\w.-]+)?\]|[^\s:/?#@[\]\\"'<>^`{|}]+)(?::(\d{1,5}))?\/?$/.exec(text);
  const port = match?.[2] === undefined ? undefined : Number(match[2]);
  if (match === null || (port !== undefined && (port < 1 || port > 65_535))) {
    throw invalid("endpoint", "the endpoint must be https://<host>[:<port>] and nothing more");
  }
  const host = match[1] as string;
  return { url: text, host: host.startsWith("[") ? host.slice(1, -1) : host, isIpv6: host.startsWith("[") };
}

function invalid(path: string, detail: string): ConfigError {
  return new ConfigError("INVALID_INPUT", detail, { path });
}
