import type { KubeTransport } from "./kube.ts";

/**
 * The Kubernetes API of a cluster that is managed, as opposed to the one that the operator's own objects live in.
 *
 * One implementation speaks HTTPS (`kube-runtime/https`), one calls the APIs of simulated clusters in the same process.
 */
export interface WorkloadDialer {
  /** Prepares a transport; connects on first use. The caller closes it. */
  dial(target: WorkloadTarget): KubeTransport;
}

/** Where the API of a managed cluster is, whom to believe there, and who we are. */
export interface WorkloadTarget {
  /**
   * Control planes that are thought to run: IPv4, IPv6 (no brackets) or DNS name, each serving on port 6443 with a certificate for that very name.
   * Tried in order.
   */
  readonly addresses: readonly string[];
  /** `https://host:port` of the cluster endpoint, tried last; `undefined` = there is none. */
  readonly endpoint: string | undefined;
  /** Who signed the server's certificate, in PEM. Nobody else is believed. */
  readonly ca: string;
  /** Our client certificate and its key, in PEM. */
  readonly certificate: string;
  readonly key: string;
}
