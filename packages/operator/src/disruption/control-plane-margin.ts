import { controlPlaneIntent } from "../record/facts.ts";
import type { SlotHolder } from "./control-plane-slot.ts";
import type { Assessment } from "../model/assessment.ts";
import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts, IntentKind } from "../model/record.ts";

/** What keeps workers from being disturbed, of the control plane. */
export type MarginHolder =
  | Extract<SlotHolder, { readonly kind: "takeover" | "founding" | "etcd" }>
  | {
      readonly kind: "margin";
      readonly healthy: number;
      readonly voters: number;
      /** The control plane that is in the middle of an effect; absent: it is by others that are away. */
      readonly busy?: { readonly machine: MachineName; readonly what: IntentKind };
    };

/** Whether workers may be disturbed beside the control plane as it is. `maxUnavailable` of their pool is another question. */
export type Margin = { readonly kind: "spare" } | { readonly kind: "none"; readonly holder: MarginHolder };

/**
 * No worker is drained or taken down while a control plane is out, unless etcd could lose one more: with one of three away, its repair has nobody else to lean on.
 */
export function controlPlaneMargin({ seen, etcd }: Assessment, facts: ClusterFacts): Margin {
  const none = (holder: MarginHolder): Margin => ({ kind: "none", holder });
  if (!seen.mayDisturb) return none({ kind: "takeover" });
  if (facts.bootstrapDone === undefined) return none({ kind: "founding" });
  if (etcd.kind === "unsafe") return none({ kind: "etcd", doubt: etcd, isSettling: true });
  const busy = controlPlaneIntent(facts);
  const away = etcd.voters.filter(({ isHealthy }) => !isHealthy);
  // One that is in the middle of an effect is about to be gone, if it is not already.
  const isCounted = away.some(({ id, machine }) => machine === busy?.machine || id === busy?.memberId);
  const out = away.length + (busy === undefined || isCounted ? 0 : 1);
  const { healthy, voters, needed } = etcd;
  if (out === 0 || voters.length - out > needed) return { kind: "spare" };
  const numbers = { kind: "margin", healthy, voters: voters.length } as const;
  return none(busy === undefined ? numbers : { ...numbers, busy: { machine: busy.machine, what: busy.what } });
}
