import type { StoreContent } from "@talos-operator/apiserver";
import type { DatacenterSnapshot } from "@talos-operator/simulator";

/** A moment of a story as a release left it: what its API, its machines and its clusters held. Read `testdata/recorded/README.md` first. */
export interface RecordedWorld {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Objects of the API, statuses and managed fields included; without CRDs and rights, which every release brings along, and without events. */
  readonly objects: StoreContent;
  readonly datacenter: DatacenterSnapshot;
  /** What the APIs of the clusters held, by key of the cluster. */
  readonly workloads: Readonly<Record<string, StoreContent>>;
  /** Where Machines are provided: the address that each was given, by `namespace/name`. */
  readonly given?: Readonly<Record<string, string>>;
  /** Where manifests are written: their texts by `folder/file`. */
  readonly files?: Readonly<Record<string, string>>;
}
