/** Everything that opens sockets or files or asks the process: HTTPS transport, credentials, probes and metrics. */
export { createHttpsTransport } from "./https-transport.ts";
export { loadKubeconfig } from "./load-kubeconfig.ts";
export { inClusterConfig, isInCluster } from "./in-cluster-config.ts";
export { serveProbes } from "./probe-server.ts";
export { showProcess } from "./process-metrics.ts";
export { KubeTransportFailure } from "./transport-failure.ts";
export { createHttpsWorkloadDialer } from "./workload-dialer.ts";

export type { HttpsTransportConfig, Impersonation, ProvidedCredentials } from "./https-config.ts";
export type { InClusterConfig } from "./in-cluster-config.ts";
export type { KubeconfigSource, LoadedKubeconfig } from "./load-kubeconfig.ts";
export type { ProbeServer, ProbeServerOptions } from "./probe-server.ts";
