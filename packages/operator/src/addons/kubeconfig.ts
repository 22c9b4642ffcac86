import type { Clock, KeyPair, Keys } from "@talos-operator/ports";
import { BACKDATE_MS } from "../secrets/credentials.ts";
import { subjectOf } from "../workload/workload-api.ts";

/** How much longer than its worker an access lasts. Milliseconds. */
const SPARE_MS = 60 * 60_000;

/**
 * Access for one run of Helm, as an administrator of the cluster under a name of its own. It outlives the run and little else.
 *
 * @param forMs how long the worker may work
 */
export async function kubeconfigFor(
  { endpoint, authority, forMs }: { readonly endpoint: string; readonly authority: KeyPair; readonly forMs: number },
  keys: Keys,
  clock: Clock,
): Promise<string> {
  const { certificate, key } = await keys.signCertificate(authority, {
    usage: "client",
    ...subjectOf({ kind: "addons" }),
    notBefore: clock.now() - BACKDATE_MS,
    lifetimeMs: BACKDATE_MS + forMs + SPARE_MS,
  });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  // JSON is YAML, and every tool reads it.
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "cluster",
    contexts: [{ name: "cluster", context: { cluster: "cluster", user: "addons" } }],
    clusters: [{ name: "cluster", cluster: { server: endpoint, "certificate-authority-data": base64(authority.certificate) } }],
    users: [{ name: "addons", user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) } }],
  });
}
