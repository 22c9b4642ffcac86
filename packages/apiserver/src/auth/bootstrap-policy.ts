import type { JsonObject } from "../json.ts";

/** A Role, ClusterRole or binding that a new cluster has. */
export interface BootstrapObject {
  readonly plural: string;
  readonly kind: string;
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Everything beside metadata. */
  readonly content: JsonObject;
}
