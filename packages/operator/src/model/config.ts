import type { ConfigChange, Hazard } from "@talos-operator/talos";

/** A component that a person asks for in another version than runs. */
export interface ComponentDifference {
  readonly component: string;
  readonly asked: string;
  readonly runs: string;
}

/** What a machine was installed with, as its configuration tells, where the spec asks for something else by now. Each part only where it differs. */
export interface InstallDifference {
  readonly image?: Differing<string>;
  readonly disk?: Differing<string>;
  readonly wipe?: Differing<boolean>;
}

export interface Differing<T> {
  readonly asked: T;
  readonly runs: T;
}

/**
 * What a machine's configuration is, read back from it and compared with what the spec asks for. No configuration, no secrets: hashes, and paths with
 * redacted values. Kept in memory only.
 */
export type SeenConfig =
  /** Not read yet, not for the present settings, or not readable; in words for people. */
  { readonly kind: "unknown"; readonly detail: string } | KnownConfig;

/** A part of a change that is never sent to a running machine. */
export type WithheldPart =
  /** Encryption: with it the machine would not get through its next boot. */
  | { readonly volume: string; readonly why: "added" | "removed" | "all-keys-changed" }
  /** What only an installation would bring, all for one reason. */
  | { readonly changes: readonly ConfigChange[] };

/** A configuration that was read. */
export interface KnownConfig {
  readonly kind: "known";
  /** When it was read, milliseconds since the epoch. */
  readonly at: number;
  /** Hash of the settings it was compared with. */
  readonly settings: string;
  readonly bootId: string;
  /** Talos that runs. */
  readonly version: string;
  /** Contract that it is written for, as far as its documents tell; absent = the record has it. */
  readonly contract?: string;
  /** SHA-256 of the text in force. */
  readonly activeHash: string;
  /** What the wanted configuration changes on the one in force; empty = the same by meaning. */
  readonly changes: readonly ConfigChange[];
  /** What of these is tried before the boot that brings the rest; absent where nothing is, or no boot is needed. */
  readonly firstPart?: readonly ConfigChange[];
  /** Hazards that the wanted configuration has and the one in force has not, and that hold it back; absent = none. */
  readonly hazards?: readonly Hazard[];
  /** Host name in it, where the spec asks for another one; empty = Talos chooses one. Absent = it is the same. */
  readonly hostname?: Differing<string>;
  /** What is asked for and left out of the wanted configuration; absent = nothing. */
  readonly withheld?: readonly WithheldPart[];
  /** Kubernetes that it names for all of its components; absent where it names several, or none. */
  readonly kubernetes?: string;
  /** What the spec asks for by now that only another installation, or an upgrade, would bring; absent where nothing does. */
  readonly install?: InstallDifference;
  /** Components that a patch or a written config names in another version than runs; absent where none does. */
  readonly components?: readonly ComponentDifference[];
  /** What tells of another Talos on it; asked only where it is upgraded, or is to be. */
  readonly talos?: SeenTalos;
  /** Kernel arguments; asked as above, and where the configuration that runs or is wanted names some. */
  readonly arguments?: SeenArguments;
  /** Static network settings in its META; absent where the spec asks for none and none were written. */
  readonly meta?: SeenMeta;
  /**
   * The one on disk, in force after the next boot: the wanted one, the one that is in force where that is not the wanted one, or a third one.
   * `unknown` = not told (Talos up to 1.9).
   */
  readonly onDisk: "wanted" | "active" | "other" | "unknown";
  /** SHA-256 of the text on disk; absent where it is not told. */
  readonly diskHash?: string;
}

/** What a machine tells of its boot slots, and what kind of hardware it is. */
export interface SeenTalos {
  /**
   * META key 0x06, what a boot that fails goes back to. It is written when an installation has ended, and goes when the machine has run and been ready after
   * its next boot: one that stands on a ready machine is about the next boot. Absent = it is not set.
   *
   * @see siderolabs/talos v1.13.9 `cmd/installer/pkg/install/install.go`, `internal/app/machined/pkg/controllers/runtime/drop_upgrade_fallback.go`
   */
  readonly fallback?: string;
  /** What the Talos that runs was built from: `none` = from no schematic; absent = not told. */
  readonly schematic?: string;
  /** Names of its system extensions; absent = not told. */
  readonly extensions?: readonly string[];
  /** Its firmware starts nothing that is not signed for it; absent = not told. */
  readonly isSecureBoot?: true;
  /** META key 0x07: an installation that the next boot begins with. */
  readonly isStaged: boolean;
  /** As the firmware says; empty where it says nothing. */
  readonly manufacturer: string;
  readonly product: string;
}

/** Kernel arguments of a machine, by name. */
export interface SeenArguments {
  /** GRUB starts it, or the firmware or systemd-boot an image with its own arguments in it; absent = not told. */
  readonly loader?: "grub" | "uki";
  /** An installation takes those of the configuration; else those of the image. */
  readonly bySettings: boolean;
  /** Those of the configuration in force; with a dash before it one that is not to be there. */
  readonly asked: readonly string[];
  /** Of these what is not in force; absent = not told what runs. */
  readonly lacks?: readonly string[];
  /** What runs besides the arguments of Talos itself; absent = not told. */
  readonly names?: readonly string[];
}

/** META key 0x0a as it was read, compared with what was wanted then. */
export interface SeenMeta {
  /** Hash of what was wanted; `none` = nothing. */
  readonly wanted: string;
  /** Hash of what is there; `none` = the key is not set. */
  readonly live: string;
  /** Host name in it, where another one is wanted and the configuration gives none; empty = Talos chooses one. Absent = the name stays. */
  readonly hostname?: Differing<string>;
  /** What is wanted takes away what leads to the machine. Absent = nothing does. */
  readonly hazards?: readonly Hazard[];
}
