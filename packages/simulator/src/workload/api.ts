import type { KeyPair, KubeTransport } from "@talos-operator/ports";

/**
 * The Kubernetes API inside a simulated cluster. The simulator says when it opens, where it listens and which Nodes register;
 * who implements the API itself is decided outside (the embedded API server in the demo and in the simulated worlds).
 */
export interface WorkloadApi {
  /**
   * Opens, or finds again, the API of one cluster. Called when the cluster's etcd is healthy for the first time and again after a restart;
   * the same `key` must give the same contents.
   */
  open(request: WorkloadClusterRequest): Promise<WorkloadCluster>;
}

/** What the API of one simulated cluster needs to know about its cluster. */
export interface WorkloadClusterRequest {
  /** Names the etcd behind the API: differs for two clusters that were bootstrapped by mistake under one Talos cluster id. Safe as a file name. */
  readonly key: string;
  /** Talos `cluster.id`. */
  readonly clusterId: string;
  readonly clusterName: string;
  /** `v1.35.4` */
  readonly kubernetesVersion: string;
  /** The cluster's Kubernetes CA, from the machine config of the founding control plane: client certificates it signed are let in. */
  readonly authority: KeyPair;
}

/** The open API of one simulated cluster. */
export interface WorkloadCluster {
  /** Speaks to the API as `system:masters`. The simulator writes Nodes with it; it never closes it. */
  readonly transport: KubeTransport;
  /**
   * Starts to listen. A second call for the same address replaces the certificate.
   *
   * @param names and addresses that the certificate is for
   * @throws Error when the address cannot be bound; the control plane then simply has no API
   */
  serve(address: string, port: number, serverCertificate: KeyPair, names: readonly string[]): Promise<void>;
  /** Stops to listen and drops connections. Nothing happens when it does not listen there. */
  unserve(address: string, port: number): Promise<void>;
  /**
   * What the API keeps in its etcd now, which is what a snapshot holds: JSON under the keys of a genuine kube-apiserver, as one stores it that runs with
   * `--storage-media-type=application/json`. Without it the snapshots of this cluster hold a few keys of their own.
   */
  stored?(): WorkloadContents;
  /** Stops everything; contents stay where the implementation keeps them. */
  close(): Promise<void>;
}

export interface WorkloadContents {
  /** Of the last write, also of one whose object is gone by now. */
  readonly revision: number;
  readonly objects: readonly {
    /** `<group>/<plural>` */
    readonly resource: string;
    /** `<namespace>/<name>`, without a namespace `/<name>` */
    readonly key: string;
    /** Of the last write of this object. */
    readonly revision: number;
    /** Plain JSON. */
    readonly object: unknown;
  }[];
}
