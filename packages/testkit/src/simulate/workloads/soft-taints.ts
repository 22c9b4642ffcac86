import type { KubeObject } from "@talos-operator/kube-runtime";
import { nodeType } from "../../world/kinds.ts";
import type { EditableWorld } from "../workload.ts";

/** Taints of a Node as a scheduler reads them. */
export interface Tainted {
  readonly spec?: { readonly taints?: readonly { readonly key: string; readonly effect: string }[] };
}

const LOOK_EVERY_MS = 5_000;

/** How many taints would rather keep pods away; a scheduler takes the Node with fewer of them first. */
export function softTaints({ spec }: Tainted): number {
  return (spec?.taints ?? []).filter(({ effect }) => effect === "PreferNoSchedule").length;
}

/** Looks for Nodes that bear the taint of upgrades, for as long as the world goes on. */
export function createTaintLook(): { run(world: EditableWorld): void; readonly hasNone: () => boolean } {
  let hasNone = true;
  const look = async (world: EditableWorld): Promise<void> => {
    const { items = [] } = (await world.workload()?.resource<KubeObject & Tainted>(nodeType).list()) ?? {};
    hasNone = items.every((node) => node.spec?.taints?.some(({ key }) => key === "talos-operator.dev/upgrade-pending") !== true);
  };
  return {
    run(world) {
      // A look that fails, as while etcd has no quorum, is not the last one.
      const again = (): void => void world.timers.schedule(LOOK_EVERY_MS, () => void look(world).then(again, again));
      again();
    },
    hasNone: () => hasNone,
  };
}
