/** Everything that opens sockets or files: HTTPS transport and credentials. */
export { createHttpsTransport } from "./https-transport.ts";
export { loadKubeconfig } from "./load-kubeconfig.ts";
export { inClusterConfig, isInCluster } from "./in-cluster-config.ts";
export { KubeTransportFailure } from "./transport-failure.ts";

export type { HttpsTransportConfig, ProvidedCredentials } from "./https-config.ts";
export type { InClusterConfig } from "./in-cluster-config.ts";
export type { KubeconfigSource, LoadedKubeconfig } from "./load-kubeconfig.ts";
