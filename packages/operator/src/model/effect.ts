import type { MachineName } from "./machine.ts";

/**
 * What each effect is told, by its kind, with the precondition that keeps it safe when the observation was stale. Every definition below `effects/` adds its own by
 * declaration merging: the words of an effect stand where it is defined, and this file imports nothing above.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface EffectParameters {}

/** Name of an effect. */
export type EffectKind = keyof EffectParameters;

/** An effect of this kind as a decision asks for it. */
export type ActionOf<K extends EffectKind> = { readonly kind: K } & EffectParameters[K];

/** One effect, with the precondition that keeps it safe when the observation was stale. */
export type Action = { readonly [K in EffectKind]: ActionOf<K> }[EffectKind];

/** What goes away for a while, or for good: nothing, whatever the machine is (a worker or a control plane), or a member of etcd. */
export type Disruption = "nothing" | "machine" | "etcd member";

/** A control plane that must show no etcd before a bootstrap is sent. */
export interface ProbeTarget {
  readonly machine: MachineName;
  readonly address: string;
  /** True: silence forbids the bootstrap, and so does any machine but the one that was written down. */
  readonly wasConfigured: boolean;
  /** Key that was written down; `undefined` = none was. */
  readonly spki: string | undefined;
  /** SMBIOS UUID that was written down; empty where none was. */
  readonly uuid: string;
}

/** An object of this cluster, by kind and name; the namespace is the control plane's. */
export interface ObjectName {
  readonly kind: "TalosControlPlane" | "TalosWorker" | "TalosMachine";
  readonly name: string;
}

/**
 * What a step changes: `etcd care` frees space of etcd; `stored` writes objects of the management cluster only; `waits` is for a fact that nobody here can bring about; `installs`,
 * `bootstraps etcd`, `membership`, `reboot` and `destroys data` are sent to machines, and so are `live`, `service restart` and `reinstall`, by the words of
 * config changes; `drains` empties a node of the workload cluster, `upgrade` brings another Talos onto
 * a machine.
 */
export type PlannedEffect =
  | "stored"
  | "waits"
  | "live"
  | "service restart"
  | "drains"
  | "installs"
  | "bootstraps etcd"
  | "membership"
  | "etcd care"
  | "upgrade"
  | "reboot"
  | "reinstall"
  | "destroys data";
