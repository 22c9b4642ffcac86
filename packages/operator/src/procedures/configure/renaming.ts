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
export function renamingOf(look: Look, { hostname, changes }: KnownConfig): Renaming | undefined {
  const from = look.kind === "running" ? look.nodeName : undefined;
  const isByName = changes.some(({ path }) => path === "machine.kubelet.registerWithFQDN");
  if (hostname === undefined) return isByName ? { from, to: undefined } : undefined;
  const to = hostname.asked.toLowerCase();
  if (to === "") return { from, to: undefined };
  // Without the domain, unless the kubelet is to register with it.
  const isSame = !isByName && from !== undefined && (to === from || to.split(".")[0] === from);
  return isSame ? undefined : { from, to };
}

/** For a plan. */
export function renamingWords({ from, to }: Renaming): string {
  const name = from === undefined ? "its Node" : `Node ${from}`;
  return to === undefined ? `${name} gets the name that Talos chooses` : `${name} becomes ${to}`;
}
