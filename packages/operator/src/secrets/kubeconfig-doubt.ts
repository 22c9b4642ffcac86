import { rfc3339 } from "@talos-operator/api";
import type { Keys } from "@talos-operator/ports";
import { load } from "js-yaml";
import { child } from "./child.ts";

/** What a kubeconfig is held against. */
export interface KubeconfigQuestion {
  /** Certificate of the cluster's Kubernetes authority. */
  readonly authority: string;
  readonly keys: Keys;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Group of the administrator that a control plane signs for; a node's own certificate, which the same authority signed, has another. */
const ADMINISTRATORS = "system:masters";

/** A machine whose clock is further ahead than this refuses our own certificates, and gives no kubeconfig at all. */
const AHEAD_MS = 15 * 60_000;

/**
 * Why a kubeconfig does not get an administrator into this cluster now; `undefined` = it does. What it would replace does, as a rule.
 *
 * Where it leads is not compared: the configuration of a machine may name another way to the API than the cluster's endpoint. Whoever stands there has to
 * show a certificate of the cluster's authority.
 */
export function kubeconfigDoubt(text: string, { authority, keys, now }: KubeconfigQuestion): string | undefined {
  try {
    const whole = load(text);
    const cluster = part(whole, "clusters", "cluster");
    const user = part(whole, "users", "user");
    const own = keys.describeCertificate(authority).spki;
    if (!certificates(decoded(cluster, "certificate-authority-data")).some((one) => keys.describeCertificate(one).spki === own))
      return "it trusts another authority than the cluster's";
    const pair = { certificate: decoded(user, "client-certificate-data"), key: decoded(user, "client-key-data") };
    const { notBefore, notAfter, organizations } = keys.describeCertificate(pair.certificate);
    if (notAfter <= now) return `its certificate ended at ${rfc3339(notAfter)}`;
    if (notBefore > now + AHEAD_MS) return `its certificate begins at ${rfc3339(notBefore)}`;
    if (!keys.verifyCertificate(pair.certificate, authority, Math.max(now, notBefore)))
      return "its certificate was not signed by the cluster's authority";
    if (!organizations.includes(ADMINISTRATORS)) return "its certificate is not an administrator's";
    return keys.isPair(pair) ? undefined : "its key does not belong to its certificate";
  } catch {
    // The cause may quote a key.
    return "its certificates cannot be read";
  }
}

function part(whole: unknown, list: string, key: string): unknown {
  const entries = child(whole, list);
  return child(Array.isArray(entries) ? entries[0] : undefined, key);
}

function decoded(fields: unknown, key: string): string {
  const value = child(fields, key);
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

function certificates(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}
