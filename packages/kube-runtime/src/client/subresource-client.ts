import type { KubeCallOptions } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ApplyOptions, Patch, ReadOptions, WriteOptions } from "../request/call-options.ts";
import type { ObjectKey } from "../request/resource-type.ts";
import type { ApplyConfiguration } from "./resource-client.ts";

/** Verbs of one subresource, for example `scale` with `autoscaling/v1` Scale. Errors as in `ResourceClient`. */
export interface SubresourceClient<S extends KubeObject> {
  get(key: ObjectKey, options?: ReadOptions & KubeCallOptions): Promise<S>;
  /** With a resourceVersion in the object this is a compare-and-swap; without, it overwrites. */
  update(key: ObjectKey, object: S, options?: WriteOptions & KubeCallOptions): Promise<S>;
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions & KubeCallOptions): Promise<S>;
  apply(key: ObjectKey, object: ApplyConfiguration<S>, options: ApplyOptions & KubeCallOptions): Promise<S>;
}
