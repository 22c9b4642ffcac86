import { dump, load } from "js-yaml";
import type { KeyPair } from "@talos-operator/ports";

export interface KubeconfigFacts {
  /** Names the cluster, the user and the context. */
  readonly name: string;
  /** `https://127.0.0.1:7443` */
  readonly server: string;
  /** PEM texts. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** A kubeconfig with one context and an embedded client certificate. */
export function printKubeconfig(facts: KubeconfigFacts): string {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  return dump(
    {
      apiVersion: "v1",
      kind: "Config",
      "current-context": facts.name,
      clusters: [{ name: facts.name, cluster: { server: facts.server, "certificate-authority-data": encode(facts.authority) } }],
      users: [{ name: facts.name, user: { "client-certificate-data": encode(facts.certificate), "client-key-data": encode(facts.key) } }],
      contexts: [{ name: facts.name, context: { cluster: facts.name, user: facts.name, namespace: "default" } }],
    },
    { lineWidth: -1 },
  );
}

/** The client certificate in a kubeconfig that {@link printKubeconfig} made; `undefined` in a text that it did not make. */
export function readKubeconfigPair(text: string): KeyPair | undefined {
  let parsed: unknown;
  try {
    parsed = load(text);
  } catch {
    return undefined;
  }
  const { users } = (parsed ?? {}) as { users?: unknown };
  const [entry] = Array.isArray(users) ? (users as readonly { user?: Record<string, unknown> | null }[]) : [];
  const { "client-certificate-data": certificate, "client-key-data": key } = entry?.user ?? {};
  if (typeof certificate !== "string" || typeof key !== "string") return undefined;
  const decode = (base64: string): string => Buffer.from(base64, "base64").toString();
  return { certificate: decode(certificate), key: decode(key) };
}
