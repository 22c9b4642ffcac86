import { annotations } from "@talos-operator/api";
import { compareVersions, tryParseVersion } from "@talos-operator/talos";
import type { Observed } from "../model/observation.ts";

/** What a person said of an outage of the control plane. */
export type OutageWord =
  | { readonly kind: "none" }
  /** It names the very Talos that the spec asks for. */
  | { readonly kind: "approved"; readonly value: string }
  /** It names another one, or none. Cut to 64 characters. */
  | { readonly kind: "another"; readonly value: string };

/** Whether etcd may lose its quorum while control planes get the Talos that the spec asks for. An edit of the version takes the word back. */
export function outageWord({ controlPlane: { metadata, spec } }: Pick<Observed, "controlPlane">): OutageWord {
  const value = metadata.annotations?.[annotations.approveOutage];
  if (value === undefined) return { kind: "none" };
  const [said, asked] = [value.trim(), spec?.version ?? ""];
  const isVersion = tryParseVersion(said) !== undefined && tryParseVersion(asked) !== undefined;
  return isVersion && compareVersions(said, asked) === 0 ? { kind: "approved", value } : { kind: "another", value: said.slice(0, 64) };
}
