import { createHash } from "node:crypto";
import { keyText } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { applyPool } from "../../controllers/shared/apply-pool.ts";
import { FIELD_MANAGER } from "./apply-machines.ts";
import type { PoolManifest } from "./model.ts";
import type { OwnerQuestion } from "./live-cluster.ts";

/** Brings pools to their manifests by server-side apply; an equal wish for an untouched pool costs no request. */
export interface PoolApplier {
  /**
   * @param isOwnerThere asked before anything is written
   * @returns the pool as it was stored, `undefined` when there was nothing to do, nobody to do it for, or somebody else changed its spec
   */
  apply(wanted: PoolManifest, stored: PoolManifest | undefined, isOwnerThere: OwnerQuestion): Promise<PoolManifest | undefined>;
}

export function createPoolApplier(client: KubeClient): PoolApplier {
  const applied = new Map<string, { readonly wish: string; readonly uid: string | undefined; readonly generation: number | undefined }>();
  return {
    async apply(wanted, stored, isOwnerThere) {
      const key = `${wanted.kind}/${keyText(wanted.metadata)}`;
      const wish = createHash("sha256")
        .update(JSON.stringify([wanted.metadata, wanted.spec]))
        .digest("hex");
      const last = applied.get(key);
      if (stored !== undefined && last?.wish === wish && last.uid === stored.metadata.uid && last.generation === stored.metadata.generation)
        return undefined;
      // One that goes is made anew when it is gone.
      if (stored?.metadata.deletionTimestamp !== undefined) return undefined;
      if (!(await isOwnerThere())) return undefined;
      const result = await applyPool(client, wanted, stored, FIELD_MANAGER);
      // The watch that tells of the other change brings the next pass.
      if (result === undefined) return undefined;
      applied.set(key, { wish, uid: result.metadata.uid, generation: result.metadata.generation });
      return result;
    },
  };
}
