import { eventType, type KubeClient, type KubeObject } from "@talos-operator/kube-runtime";
import { timeOfDay } from "../live/times.ts";
import type { ViewEvent } from "../live/view.ts";

/** As many are kept; older ones were seen. */
const MOST = 100;

interface EventObject extends KubeObject {
  readonly eventTime?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string; readonly namespace?: string; readonly name?: string };
}

/** What the operator said of objects since `sinceMs`, oldest first. */
export interface RecentEvents {
  read(): Promise<readonly ViewEvent[]>;
}

export function createRecentEvents(client: KubeClient, sinceMs: number): RecentEvents {
  return {
    async read() {
      const { items } = await client.resource<EventObject>(eventType).list();
      return items
        .map((event) => ({ event, atMs: Date.parse(event.eventTime ?? event.metadata?.creationTimestamp ?? "") }))
        .filter(({ atMs }) => atMs >= sinceMs)
        .toSorted((a, b) => a.atMs - b.atMs)
        .slice(-MOST)
        .map(({ event: { metadata, reason = "", note = "", regarding }, atMs }) => ({
          id: metadata?.uid ?? `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`,
          at: timeOfDay(atMs),
          text: `${regarding?.kind ?? ""}/${regarding?.name ?? ""} ${reason}: ${note}`,
        }));
    },
  };
}
