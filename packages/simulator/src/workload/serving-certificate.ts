import type { Keys, KubeTransport } from "@talos-operator/ports";

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** Whom a kubelet asks for. */
export interface ServedNode {
  readonly name: string;
  readonly address: string;
}

/**
 * Asks the cluster for the certificate of a kubelet's own port, as a kubelet with `--rotate-server-certificates` does when it starts. Nobody in a Talos cluster
 * approves it. The simulated kubelet does not wait for it, and does not ask again before it starts anew.
 *
 * @throws Error when the API could not take it now
 */
export async function requestServingCertificate(transport: KubeTransport, keys: Keys, { name, address }: ServedNode): Promise<void> {
  const commonName = `system:node:${name}`;
  const organizations = ["system:nodes"];
  const { request } = await keys.createCertificateRequest({ commonName, organizations, dnsNames: [name], ipAddresses: [address] });
  const { status } = await transport.send({
    method: "POST",
    path: requests,
    headers: { "impersonate-user": commonName, "impersonate-group": "system:nodes" },
    body: {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { generateName: "csr-" },
      spec: {
        request: Buffer.from(request).toString("base64"),
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["digital signature", "server auth"],
      },
    },
  });
  // What is refused stays so, and the Node is registered all the same.
  if (status >= 500) throw new Error(`the certificate request of ${name} was not taken: HTTP ${status}`);
}
