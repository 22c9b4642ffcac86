import { dump } from "js-yaml";

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
