import type { Finding } from "./finding.ts";
import { deniedHost, parseHost, quote } from "./host.ts";
import type { HostOptions } from "./host.ts";

/** The endpoint of a control plane, understood. */
export interface Endpoint {
  /** An IP address without brackets, or a DNS name in lower case. */
  readonly host: string;
  /** 443 when the URL names none. */
  readonly port: number;
}

/**
 * Reads `https://host[:port]`. No user, path, query or fragment; a single trailing slash is refused too, because the text
 * goes into certificates' neighbours (kubeconfig, cluster config) as it is.
 *
 * @returns the endpoint, or what is wrong with it
 */
export function parseEndpoint(endpoint: string, field = "spec.endpoint", options: HostOptions = {}): Endpoint | Finding {
  const wrong = (message: string, remedy: string): Finding => ({ field, message, remedy, reason: "InvalidEndpoint" });
  const parts = /^(?<scheme>[A-Za-z][A-Za-z0-9+.-]*):\/\/(?<authority>[^/?#]*)(?<rest>[\s\S]*)$/.exec(endpoint)?.groups;
  const { scheme = "", authority = "", rest = "" } = parts ?? {};
  if (parts === undefined) return wrong(`${quote(endpoint)} is no URL`, example);
  if (scheme.toLowerCase() !== "https")
    return wrong(`${quote(scheme)} is not https`, `Write https://${authority.includes("@") ? "host:6443" : authority}`);
  if (authority.includes("@")) return wrong("it carries a user or password", `${example}; credentials do not belong here`);
  if (rest !== "") return wrong(`${quote(rest)} follows host and port`, `Leave out path, query and fragment. ${example}`);
  const split = /^(?:\[(?<six>[^\]]*)\]|(?<plain>[^:]*))(?::(?<port>.*))?$/.exec(authority)?.groups;
  if (split === undefined) return wrong(`${quote(authority)} is no host and port`, "Put IPv6 addresses into brackets");
  const host = parseHost(split.six ?? split.plain ?? "");
  if (!("kind" in host)) return wrong(host.message, host.remedy);
  if (split.six !== undefined && !(host.kind === "ip" && host.ip.family === 6))
    return wrong(`${quote(authority)} has no IPv6 address in its brackets`, example);
  const port = split.port === undefined ? 443 : Number(split.port);
  if (split.port !== undefined && (!/^[1-9]\d{0,4}$/.test(split.port) || port > 65_535))
    return wrong(`${quote(split.port)} is no port`, "Write a port from 1 to 65535, usually 6443");
  const problem = deniedHost(host, options);
  return problem === undefined ? { host: host.text, port } : wrong(problem.message, problem.remedy);
}

const example = "Write it as https://10.0.0.10:6443";
