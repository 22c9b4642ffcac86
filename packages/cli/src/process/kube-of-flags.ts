import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { stringFlag, type FlagValues } from "../command.ts";

/** A Kubernetes API that one command reads. */
export interface KubeOfFlags {
  readonly client: KubeClient;
  /** That of `-n`, else the context's. */
  readonly namespace: string;
}

/** Reaches the API that `--kubeconfig`, `KUBECONFIG` or `~/.kube/config` names, and lets go of it afterwards. */
export async function withKube<T>(flags: FlagValues, use: (kube: KubeOfFlags) => Promise<T>): Promise<T> {
  const path = stringFlag(flags, "kubeconfig");
  const loaded = await loadKubeconfig(path === undefined ? {} : { path });
  const transport = createHttpsTransport(loaded.config);
  try {
    return await use({ client: createKubeClient(transport), namespace: stringFlag(flags, "namespace") ?? loaded.namespace });
  } finally {
    transport.close();
  }
}
