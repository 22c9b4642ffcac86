import { hideContents, type Talosconfig, type TalosconfigContext } from "./talosconfig.ts";

/** Two client configurations as one, with the contexts that had to be renamed. */
export interface MergedTalosconfig {
  readonly talosconfig: Talosconfig;
  readonly renames: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Adds the contexts of `added` to `base`. A name that is taken becomes `name-1`, `name-2` and so on; the current context becomes that of
 * `added` if it has one.
 */
export function mergeTalosconfigs(base: Talosconfig, added: Talosconfig): MergedTalosconfig {
  const contexts = new Map<string, TalosconfigContext>(base.contexts);
  const names = new Map<string, string>();
  for (const [name, context] of added.contexts) {
    const free = freeName(name, contexts);
    names.set(name, free);
    contexts.set(free, context);
  }
  const renames = [...names].flatMap(([from, to]) => (from === to ? [] : [{ from, to }]));
  const context = added.context === "" ? base.context : (names.get(added.context) ?? "");
  return { talosconfig: hideContents({ context, contexts }), renames };
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name;
  let suffix = 1;
  while (taken.has(`${name}-${suffix}`)) suffix++;
  return `${name}-${suffix}`;
}
