/**
 * What a change of a config costs, mildest first:
 *
 * - `live`: in force within seconds, nothing stops;
 * - `restarts-service`: Talos restarts the named services, the machine stays up;
 * - `unknown`: not classified, so it may need a reboot;
 * - `reboot`: written at once, in force after the next boot;
 * - `reinstall`: read by an install or an upgrade only;
 * - `destroys-data`: in force only when a disk or a volume is formatted;
 * - `forbidden`: breaks a running machine or cluster; there is another way to it (reset, rotation of the secrets) or none.
 */
export type ConfigEffect = "live" | "restarts-service" | "unknown" | "reboot" | "reinstall" | "destroys-data" | "forbidden";

const severity: readonly ConfigEffect[] = ["live", "restarts-service", "unknown", "reboot", "reinstall", "destroys-data", "forbidden"];

/** The graver of two effects. */
export function worseEffect(a: ConfigEffect, b: ConfigEffect): ConfigEffect {
  return severity.indexOf(a) >= severity.indexOf(b) ? a : b;
}

/** One changed part of a config. */
export interface ConfigChange {
  /** Identity of the document, for example `/v1alpha1/` or `v1alpha1/HostnameConfig/`. */
  readonly document: string;
  /** Dotted path inside the document, for example `machine.network.interfaces[0].mtu`; empty when the whole document came or went. */
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly effect: ConfigEffect;
  /** Services that restart by themselves, for example `kubelet`; empty unless the effect is `restarts-service`. */
  readonly services: readonly string[];
  /** True when this Talos (1.13 and older) reboots by itself to apply the change, and refuses it in the apply mode no-reboot. */
  readonly rebootsItself: boolean;
  /** One sentence: why this effect. */
  readonly reason: string;
  /** What stood there, as text; `undefined` when nothing did. Secrets are replaced by `(secret)`. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a new config does to a machine that runs the old one. Holds no secrets. */
export interface ConfigEffects {
  /** The gravest effect of all changes, `none` when the configs mean the same. */
  readonly worst: ConfigEffect | "none";
  /** All services that restart, each once, in order of the changes. */
  readonly services: readonly string[];
  /** True when this Talos reboots by itself to apply the new config. */
  readonly rebootsItself: boolean;
  /** In the order of the new config, removed documents last. */
  readonly changes: readonly ConfigChange[];
}
