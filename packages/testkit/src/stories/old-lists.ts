import type { KubeObject } from "@talos-operator/kube-runtime";
import type { KubeTransport, KubeWatchEvent } from "@talos-operator/ports";

/** An API whose lists show objects as they were once, as those of an API server that lags behind do. */
export interface OldLists {
  kube(real: KubeTransport): KubeTransport;
  /** Objects of this kind are listed as they are here from now on; those that are not named, as they are. @param plural of the kind */
  keep(plural: string, objects: readonly KubeObject[]): void;
  /** Lists tell the truth again. */
  catchUp(): void;
}

export function createOldLists(): OldLists {
  const kept = new Map<string, ReadonlyMap<string, KubeObject>>();
  async function* asBefore(events: AsyncIterable<KubeWatchEvent>, plural: string): AsyncIterable<KubeWatchEvent> {
    for await (const event of events) {
      const { metadata } = event.object as KubeObject;
      const object = kept.get(plural)?.get(metadata?.name ?? "");
      yield event.type === "ADDED" && object !== undefined ? { ...event, object } : event;
    }
  }
  return {
    kube: (real) => ({
      ...real,
      async watch(request, options) {
        const answer = await real.watch(request, options);
        return { ...answer, events: asBefore(answer.events, request.path.split("/").at(-1) ?? "") };
      },
    }),
    keep: (plural, objects) => void kept.set(plural, new Map(objects.map((object) => [object.metadata?.name ?? "", object]))),
    catchUp: () => kept.clear(),
  };
}
