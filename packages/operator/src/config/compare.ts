import { classifyConfigEffects } from "@talos-operator/talos";
import type { ConfigChange, ConfigEffect } from "@talos-operator/talos";
import type { KnownConfig } from "../model/config.ts";
import { withRunningValues } from "./running-values.ts";

/** What a desired configuration would change on a machine. */
export interface ConfigComparison {
  /** What would be sent: the desired configuration with the versions that run. Holds keys. */
  readonly wanted: string;
  readonly changes: readonly ConfigChange[];
}

/** Lists of names and addresses that certificates are made for. */
const sansPaths: ReadonlySet<string> = new Set(["machine.certSANs", "cluster.apiServer.certSANs", "certExtraSANs"]);

/** Read by an installation only, and chosen when the machine was installed: fields of their own in the spec, which no configuration change carries. */
const installPaths: readonly RegExp[] = [
  /^\/v1alpha1\/ machine\.install\.(disk|image|wipe|diskSelector)\b/,
  /^v1alpha1\/UnattendedInstallConfig\/ (installer\.image|provisioning\.(wipe|diskSelector)\b)/,
];

/**
 * Compares what is wanted with what a machine has, by meaning: spelling, order and defaults do not count. Neither do versions, nor addresses of control planes
 * in certificates: those of machines that came or went since need not be known to the others, and are brought along with the next change.
 *
 * @param live the text that the machine has
 * @param addresses of control planes, now or before, and of the endpoint
 * @throws ConfigError for a text that is no YAML
 */
export function compareConfigs(input: {
  readonly desired: string;
  readonly live: string;
  readonly talosVersion: string;
  readonly addresses: ReadonlySet<string>;
}): ConfigComparison {
  const { desired, live, talosVersion, addresses } = input;
  if (desired === live) return { wanted: desired, changes: [] };
  const wanted = withRunningValues(desired, live);
  const changes = classifyConfigEffects(live, wanted, talosVersion).changes.filter(
    (change) => !isAboutInstallation(change) && !isOnlyAboutAddresses(change, addresses),
  );
  return { wanted, changes };
}

/** It chose how the machine was installed, and no change of its configuration carries it. */
export function isAboutInstallation({ document, path }: ConfigChange): boolean {
  return installPaths.some((pattern) => pattern.test(`${document} ${path}`));
}

function isOnlyAboutAddresses(change: ConfigChange, addresses: ReadonlySet<string>): boolean {
  if (!sansPaths.has(change.path)) return false;
  const before = new Set(itemsOf(change.before));
  const after = new Set(itemsOf(change.after));
  const only = (a: ReadonlySet<string>, b: ReadonlySet<string>): readonly string[] => [...a].filter((item) => !b.has(item));
  return [...only(before, after), ...only(after, before)].every((item) => addresses.has(item));
}

/** Items of a list of plain words as YAML shows it. */
function itemsOf(text: string | undefined): readonly string[] {
  return (text ?? "").split("\n").flatMap((line) => /^\s*- ["']?(.*?)["']?$/.exec(line)?.[1] ?? []);
}

/** How a change gets onto a machine. */
export type ConfigRoute =
  /** Nothing differs. */
  | "none"
  /** In force at once: tried, looked at from outside, then kept. */
  | "guarded"
  /** In force after the next boot. */
  | "reboot"
  /** Never sent: only an installation or another way brings it. */
  | "never";

const neverSent: ReadonlySet<ConfigEffect> = new Set(["reinstall", "destroys-data", "forbidden"]);

/** How these changes together get onto a machine: by the gravest of them. What nobody has classified may need a reboot. */
export function routeOf(changes: readonly ConfigChange[]): ConfigRoute {
  if (changes.length === 0) return "none";
  if (changes.some(({ effect }) => neverSent.has(effect))) return "never";
  return changes.every(isInForceAtOnce) ? "guarded" : "reboot";
}

/** It needs no boot: a machine can try it, and take it back by itself. */
export function isInForceAtOnce({ effect, rebootsItself }: ConfigChange): boolean {
  return !rebootsItself && effect !== "reboot" && effect !== "unknown" && !neverSent.has(effect);
}

/** What is sent next of a configuration that was compared: of one that needs a boot, first the part that can be tried. */
export function nextRoute({ changes, firstPart }: Pick<KnownConfig, "changes" | "firstPart">): ConfigRoute {
  return firstPart === undefined ? routeOf(changes) : "guarded";
}
