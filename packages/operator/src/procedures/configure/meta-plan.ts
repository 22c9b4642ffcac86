import { createHash } from "node:crypto";
import { metaNetworkText } from "../../config/meta-network.ts";
import type { MachineFact } from "../../model/record.ts";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { KnownConfig, SeenConfig } from "../../model/config.ts";
import type { ConfigState } from "../../model/plans.ts";

/** Nothing stands under the key, or nothing is to stand there. */
export const NO_META = "none";

/**
 * Settings may have been written before the first configuration, where machines let strangers do so: what stands there is read before anything counts as
 * written, also when they have left the spec by then.
 */
export const UNSURE_META = "unsure";

/** What is to stand in a machine's META: the text and its hash; no text = the key is not to be set. */
export interface WantedMeta {
  readonly text: string | undefined;
  readonly hash: string;
}

/** The static network settings that a machine is to have; a container has no META. */
export function wantedMeta({ machineSpec, address }: DeclaredMachine, platform: string | undefined): WantedMeta {
  const text = platform === "container" ? undefined : metaNetworkText(machineSpec.meta, address);
  return { text, hash: metaHashOf(text) };
}

/** Hash of what stands, or is to stand, in META. */
export function metaHashOf(text: string | undefined): string {
  return text === undefined ? NO_META : createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Under which name the failure of such settings is remembered: settings of the configuration have names without a prefix. */
export function metaSettings(hash: string): string {
  return `meta-${hash}`;
}

/** True when META of this machine is to be read: settings are wanted, or were written. */
export function concernsMeta(fact: MachineFact, wanted: WantedMeta): boolean {
  return wanted.text !== undefined || (fact.metaHash ?? NO_META) !== NO_META;
}

/** Settings for META are to be written, and what stands there was not read since: whether they have a hazard nobody knows yet. */
export function isMetaUnread(fact: MachineFact, wanted: WantedMeta, config: SeenConfig | undefined): boolean {
  const isRead = config?.kind === "known" && config.meta?.wanted === wanted.hash;
  return concernsMeta(fact, wanted) && fact.metaHash !== wanted.hash && !isRead;
}

/**
 * Where the static network settings of a machine stand whose configuration is as it should be: three-way between what is wanted, what was last written and
 * what is there. `undefined` = as they should be, or not known.
 */
export function metaState(fact: MachineFact, wanted: WantedMeta, config: KnownConfig | undefined): ConfigState | undefined {
  if (!concernsMeta(fact, wanted)) return undefined;
  const isThere = config?.meta?.live === wanted.hash;
  const failed = fact.failed?.configHash === metaSettings(wanted.hash) && fact.failed.tries === undefined ? fact.failed : undefined;
  // One that does not tell any more is why the others wait.
  if (failed !== undefined && !isThere) return { kind: "failed", failure: failed };
  if (config?.meta?.wanted !== wanted.hash) return undefined;
  const learned = (why: string): ConfigState => ({ kind: "learn", next: { ...withoutFailure(fact), metaHash: wanted.hash }, why });
  if (isThere) return fact.metaHash === wanted.hash ? undefined : learned("Its META holds the settings that are wanted already.");
  if (fact.metaHash === undefined) return learned("Its META counts as written for the settings of now.");
  return fact.metaHash === wanted.hash ? { kind: "drifted", config, part: "meta" } : { kind: "change", route: "meta", config };
}

function withoutFailure({ failed, ...rest }: MachineFact): MachineFact {
  return failed === undefined || failed.configHash.startsWith(metaSettings("")) ? rest : { ...rest, failed };
}
