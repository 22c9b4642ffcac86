import type { KnownConfig } from "../../model/config.ts";
import type { Look } from "../../model/look.ts";

/** A change of settings that gives a machine another Node. */
export interface Renaming {
  /** Name of its Node of now; `undefined` = it did not report it. */
  readonly from: string | undefined;
  /** `undefined` = Talos chooses it. */
  readonly to: string | undefined;
}

/**
 * Whether a machine registers another Node with the wanted settings. The one of now stays then, without a kubelet and with its pods: it has to be drained first.
 */
export function renamingOf(look: Look, { hostname, changes }: Pick<KnownConfig, "hostname" | "changes">): Renaming | undefined {
  const from = look.kind === "running" ? look.nodeName : undefined;
  const isByName = changes.some(({ path }) => path === "machine.kubelet.registerWithFQDN");
  if (hostname === undefined) return isByName ? { from, to: undefined } : undefined;
  const full = hostname.asked.toLowerCase();
  if (full === "") return { from, to: undefined };
  // Without the domain, unless the kubelet registers with it.
  const to = isByName || from?.includes(".") === true ? full : full.split(".")[0];
  return from !== undefined && to === from ? undefined : { from, to };
}

/** The same of settings in its META, which give it a name where its configuration gives it none. */
export function renamingByMeta(look: Look, { meta }: KnownConfig): Renaming | undefined {
  return meta?.hostname === undefined ? undefined : renamingOf(look, { hostname: meta.hostname, changes: [] });
}

/** For a plan. */
export function renamingWords({ from, to }: Renaming): string {
  const name = from === undefined ? "its Node" : `Node ${from}`;
  return to === undefined ? `${name} gets the name that Talos chooses` : `${name} becomes ${to}`;
}
