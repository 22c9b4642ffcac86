import { annotations } from "@talos-operator/api";
import { compareVersions, tryParseVersion } from "@talos-operator/talos";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";

/** What a person said of an outage of the control plane while one machine boots. */
export type OutageWord =
  | { readonly kind: "none" }
  /** It names the very Talos that the spec asks for on that machine. */
  | { readonly kind: "approved"; readonly value: string }
  /** It names another one, or none. Cut to 64 characters. */
  | { readonly kind: "another"; readonly value: string };

/** Whether etcd may lose its quorum while this control plane gets the Talos that the spec asks for on it. An edit of the version takes the word back. */
export function outageWord(
  { controlPlane: { metadata }, machines }: Pick<Observed, "controlPlane" | "machines">,
  name: MachineName,
): OutageWord {
  const value = metadata.annotations?.[annotations.approveOutage];
  if (value === undefined) return { kind: "none" };
  const [said, asked] = [value.trim(), machines.find(({ declared }) => declared.name === name)?.declared.version ?? ""];
  const isVersion = tryParseVersion(said) !== undefined && tryParseVersion(asked) !== undefined;
  return isVersion && compareVersions(said, asked) === 0 ? { kind: "approved", value } : { kind: "another", value: said.slice(0, 64) };
}
