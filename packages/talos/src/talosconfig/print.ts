import type { Generation } from "../config/schema/notation.ts";
import { emitYaml, type YamlMapping } from "../config/yaml/emit.ts";
import { sortedByKey } from "../config/yaml/key-order.ts";
import type { Talosconfig, TalosconfigContext } from "./talosconfig.ts";

/** The text of a client configuration, as talosctl writes it: contexts sorted by name, absent fields left out. */
export function printTalosconfig(talosconfig: Talosconfig): string {
  return writeTalosconfig(talosconfig, "1.13");
}

/** The same, in the quotes of one generation of the genuine tool. */
export function writeTalosconfig({ context, contexts }: Talosconfig, generation: Generation): string {
  const named = new Map([...contexts].map(([name, value]) => [name, contextFields(value)]));
  return emitYaml({ context, contexts: sortedByKey(named) }, { oldBooleanQuotes: generation === "1.13" ? "double" : "single" });
}

function contextFields({ endpoints, nodes, ca, crt, key, auth, cluster, proxyUrl }: TalosconfigContext): YamlMapping {
  return {
    endpoints,
    nodes: nodes === undefined || nodes.length === 0 ? undefined : nodes,
    ca,
    crt,
    key,
    auth: auth === undefined ? undefined : { basic: auth.basic, siderov1: auth.siderov1 },
    cluster,
    "proxy-url": proxyUrl,
  };
}
