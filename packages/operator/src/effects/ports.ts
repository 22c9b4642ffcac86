import type { KubeObject, KubeClient } from "@talos-operator/kube-runtime";
import type { SecretsBundle } from "@talos-operator/talos";
import type { EventReason } from "@talos-operator/api";
import type { Clock, Keys, Logger, RandomSource, Span, TalosDialer } from "@talos-operator/ports";
import type { ClusterFacts } from "../model/record.ts";
import type { ObjectName } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { Leading } from "../leading.ts";
import type { AccessStore } from "../secrets/access-store.ts";
import type { BundleStore } from "../secrets/bundle-store.ts";
import type { Guard } from "./guard.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";

/** What carrying out needs. */
export interface EffectPorts {
  readonly client: KubeClient;
  readonly dialer: TalosDialer;
  readonly bundles: BundleStore;
  readonly access: AccessStore;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** One pass over one cluster, as its effects see it. */
export interface Effects extends EffectPorts {
  readonly seen: Observed;
  readonly session: ClusterSession;
  readonly guard: Guard;
  readonly leading: Leading;
  /** Told what came of each effect. */
  readonly carriedOut: (effect: string, thrown: unknown) => void;
  readonly log: Logger;
  /** The span of the pass; each effect is one below it. */
  readonly span: Span;
  readonly signal: AbortSignal;
  /** Makes a call to a machine that changes something: one that was sent is let end when the process stops. @throws EffectError `NOT_LEADING` */
  letEnd<T>(call: () => Promise<T>): Promise<T>;
  /** Reads the bundle that the record names, once for a pass. @throws EffectError `KEYS_UNUSABLE` */
  bundle(): Promise<SecretsBundle>;
  /** The facts as the last write of this pass left them. */
  facts(): ClusterFacts;
  /** Reports to people on the cluster that they wrote, or on `regarding`; best effort. */
  event(reason: EventReason, action: string, note: string, regarding?: KubeObject): void;
  /** Tells what was just written into the record. */
  written(before: ClusterFacts, after: ClusterFacts): void;
  /** Tells a step that is written down nowhere, on the machine alone. */
  tellStep(machine: MachineName, reason: EventReason, note: string): void;
  /** @throws EffectError `ANOTHER_OPERATOR` while another operator is at work on this cluster */
  demandAlone(isAdopted: boolean): Promise<void>;
  /** @throws EffectError `MODE_CHANGED` when people want the cluster to be left alone by now */
  demandReconciled(): Promise<void>;
  /** @throws EffectError `MODE_CHANGED` when people want this machine, or its pool, to be left alone by now */
  demandUnpaused(machine: MachineName): Promise<void>;
  /** @throws EffectError `MODE_CHANGED` when this worker pool is gone, deleted, paused or another cluster's by now */
  demandPool(pool: string): Promise<void>;
  /** Fails where what this machine is to be configured for is being deleted by now. @throws EffectError `MODE_CHANGED` */
  demandKept(machine: MachineName): Promise<void>;
  /** Asks for another pass over this cluster. */
  wake(): void;
  /** Lets the caches catch up with a write of ours. */
  caughtUp(kind: ObjectName["kind"], resourceVersion: string | undefined): Promise<void>;
}
