import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startGenuineApi } from "@talos-operator/adapters/testing";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KeyPair } from "@talos-operator/ports";

/** A genuine etcd, kube-apiserver and disruption controller, authorized as Talos does it. */
export interface GenuineCluster {
  /** As `system:masters`. */
  readonly admin: KubeClient;
  readonly address: string;
  readonly authority: KeyPair;
  close(): Promise<void>;
}

export async function startGenuineCluster(): Promise<GenuineCluster> {
  const { folder, kubeconfig, address, stop } = await startGenuineApi({
    controllers: ["disruption-controller", "serviceaccount-controller"],
    flags: ["--authorization-mode=Node", "--enable-admission-plugins=NodeRestriction"],
  });
  const { config } = await loadKubeconfig({ path: kubeconfig });
  const transport = createHttpsTransport(config);
  return {
    admin: createKubeClient(transport),
    address,
    authority: { certificate: readFileSync(join(folder, "pki/ca.crt"), "utf8"), key: readFileSync(join(folder, "pki/ca.key"), "utf8") },
    async close() {
      transport.close();
      await stop();
    },
  };
}
