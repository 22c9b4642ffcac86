import type { ConfigChange } from "@talos-operator/talos";
import type { IntentFact, MachineFact } from "./record.ts";
import type { KnownConfig } from "./config.ts";
import type { SeenMachine } from "./observation.ts";

/** Where one machine stands between what the spec asks for, what was last applied, and what it runs. */
export type ConfigState =
  /** Its configuration was not read yet, or cannot be. */
  | { readonly kind: "unknown"; readonly detail: string }
  /** It runs what was last applied, for these settings. `otherwise`: what this release of the operator would write differently; nobody asked for it. */
  | { readonly kind: "settled"; readonly otherwise: readonly ConfigChange[] }
  /** The settings stand, and somebody else changed the machine, in force or for the next boot. `part`: it is its META. */
  | { readonly kind: "drifted"; readonly config: KnownConfig; readonly part?: "meta" }
  /** Nothing is sent: what was read is written down. */
  | { readonly kind: "learn"; readonly next: MachineFact; readonly why: string }
  /** The settings changed. */
  | { readonly kind: "change"; readonly route: ChangeRoute; readonly config: KnownConfig }
  /** The settings changed in a way that is never sent. */
  | { readonly kind: "never"; readonly config: KnownConfig }
  /** The machine refused these settings or took them back. */
  | { readonly kind: "failed"; readonly why: string }
  /** The settings are on the machine's disk and wait for a boot. */
  | { readonly kind: "staged"; readonly config: KnownConfig }
  /** An effect is open; what it shows ends it. */
  | { readonly kind: "under-way"; readonly intent: IntentFact };

/** How settings get onto a machine: `rewrite` brings the disk back to what is in force already, `meta` writes its META. */
export type ChangeRoute = "guarded" | "reboot" | "rewrite" | "meta";

/** One machine with its state. */
export interface ConfigPlan {
  readonly machine: SeenMachine;
  readonly fact: MachineFact;
  /** Hash of the settings that are wanted: of the configuration, or of META where that is what the state is about. */
  readonly settings: string;
  readonly state: ConfigState;
}
