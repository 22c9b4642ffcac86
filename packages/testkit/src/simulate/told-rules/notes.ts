import type { ToldRule } from "./rule.ts";
import { WRITTEN_MS } from "./rule.ts";
import { conditionOf, type ToldObject, type ToldPool } from "./told.ts";

/** W16 a note about an ignored field stands where the person wrote the field: on the TalosCluster that describes the pool, too. */
const notes: ToldRule = {
  id: "W16",
  // A condition that is no turn waits for 8 s at most where more was told just before.
  toleranceMs: WRITTEN_MS + 8_000,
  judge({ pools, clusters }, broken) {
    for (const cluster of clusters) {
      if (cluster.kind !== "TalosCluster" || conditionOf(cluster, "FieldNotSupported") !== undefined) continue;
      const child = pools.find((pool) => isInline(pool, cluster) && conditionOf(pool.object, "FieldNotSupported") !== undefined);
      if (child !== undefined)
        broken(
          child.name,
          () =>
            `TalosCluster says nothing of what ${child.plural} ${child.name} does not act on: ${conditionOf(child.object, "FieldNotSupported")?.message}`,
        );
    }
  },
};

function isInline({ object }: ToldPool, cluster: ToldObject): boolean {
  return object.metadata?.ownerReferences?.some(({ uid }) => uid === cluster.metadata?.uid) === true;
}

/** W19 a condition that a message leads to is there. */
const leadsSomewhere: ToldRule = {
  id: "W19",
  toleranceMs: WRITTEN_MS,
  judge({ pools, clusters, machines }, broken) {
    const all = [...pools.map(({ object }) => object), ...clusters, ...[...machines.values()].flatMap(({ object }) => object ?? [])];
    for (const object of all)
      for (const { type, message = "" } of object.status?.conditions ?? [])
        for (const [, wanted = ""] of message.matchAll(/(?:\bcondition |^See )([A-Z]\w+)(?! of)\b/g))
          if (conditionOf(object, wanted) === undefined)
            broken(
              `${object.kind ?? ""} ${type} ${wanted}`,
              () => `${object.kind ?? ""} ${object.metadata?.name ?? ""}: ${type} leads to ${wanted}, which is not there: ${message}`,
            );
  },
};

export const noteRules: readonly ToldRule[] = [notes, leadsSomewhere];
