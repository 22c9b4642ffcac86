import { refusalOfEndpoint } from "@talos-operator/talos";
import { CliError } from "../cli-error.ts";

/**
 * Refuses an endpoint without `https://`, and says what was probably meant, and one that nothing can reach, in talosctl's words.
 *
 * @throws CliError
 */
export function checkClusterEndpoint(endpoint: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1];
  // A name with a port looks like a scheme too, as long as nothing but digits follows.
  const isHostAndPort = scheme !== undefined && !endpoint.includes("//") && /^\d+$/.test(endpoint.slice(scheme.length + 1));
  if (scheme?.toLowerCase() === "https") return refuseUnreachable(endpoint);
  if (scheme !== undefined && !isHostAndPort) {
    throw refusal("the control plane endpoint URL should have scheme https://", endpoint.slice(scheme.length + 1).replace(/^\/\//, ""));
  }
  const hasPort = /:\d+$/.test(endpoint) && !/^[^[]*:[^\]]*:/.test(endpoint);
  throw refusal(`no scheme ${hasPort ? "" : "and port "}specified for the cluster endpoint URL`, endpoint);
}

function refuseUnreachable(endpoint: string): void {
  const why = refusalOfEndpoint(endpoint);
  if (why === undefined) return;
  const remedy = "Give the URL of the Kubernetes API, such as https://192.0.2.10:6443.";
  throw new CliError(`error validating the cluster endpoint URL: ${why}`, remedy, { exitCode: 2 });
}

function refusal(message: string, rest: string): CliError {
  const host = /:\d+$/.test(rest.replace(/\/.*$/, "")) ? rest : rest.replace(/^([^/]*)/, "$1:6443");
  return new CliError(`${message}\ntry: ${JSON.stringify(`https://${host}`)}`, "Give the URL of the Kubernetes API.", { exitCode: 2 });
}
