import type { Clock } from "@talos-operator/ports";
import { etcdVersionOf } from "../node/version.ts";
import type { Cell } from "../datacenter/cell.ts";
import type { EtcdRegistry } from "../datacenter/etcd-registry.ts";
import type { WorkloadClusters } from "../workload/clusters.ts";
import { databaseOf, ownContents } from "./database.ts";
import type { EtcdContents } from "./database.ts";
import type { EtcdCluster } from "./model.ts";
import type { EtcdSpaces } from "./spaces.ts";

/** What the databases are made of. */
interface Sources {
  readonly clock: Clock;
  readonly etcd: EtcdRegistry;
  readonly spaces: EtcdSpaces;
  readonly workloads: WorkloadClusters;
}

interface Written {
  readonly cluster: EtcdCluster;
  readonly revision: number;
  readonly etcdVersion: string;
  readonly bytes: Uint8Array;
}

/** The database of every member, as it would stream it now. */
export class EtcdDatabases {
  readonly #sources: Sources;
  /** The last one of each etcd: lives ask far more often than something changes. */
  readonly #written = new Map<string, Written>();
  /** What members had when they fell behind the others. */
  readonly #behind = new Map<Cell, { readonly key: string; readonly contents: EtcdContents }>();

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** What this member has. A member that fell behind has what there was then. */
  contentsOf(cell: Cell, cluster: EtcdCluster): EtcdContents {
    const behind = this.#behind.get(cell);
    if (behind?.key === cluster.key && cell.state.isEtcdBehind === true) return behind.contents;
    const contents = this.#sources.workloads.contentsOf(cluster.key) ?? ownContents(cluster, this.#sources.clock.now());
    // Of wrong data only that they are wrong is simulated: a key is missing.
    return this.#sources.spaces.variantOf(cell, cluster) === undefined ? contents : { ...contents, keys: contents.keys.slice(0, -1) };
  }

  /** From now on this member gets nothing new, until it is no longer behind. */
  fallBehind(cell: Cell): void {
    const cluster = this.#sources.etcd.of(cell);
    if (cluster !== undefined) this.#behind.set(cell, { key: cluster.key, contents: this.contentsOf(cell, cluster) });
  }

  /** The snapshot that this member streams. */
  snapshotOf(cell: Cell, cluster: EtcdCluster): Uint8Array {
    const contents = this.contentsOf(cell, cluster);
    const etcdVersion = etcdVersionOf(cell.state.hardware.talosVersion);
    const written = `${cluster.key}|${this.#sources.spaces.variantOf(cell, cluster) === undefined ? "" : "wrong"}`;
    const known = this.#written.get(written);
    if (known?.cluster === cluster && known.revision === contents.revision && known.etcdVersion === etcdVersion) return known.bytes;
    const bytes = databaseOf(cluster, contents, etcdVersion);
    this.#written.set(written, { cluster, revision: contents.revision, etcdVersion, bytes });
    return bytes;
  }
}
