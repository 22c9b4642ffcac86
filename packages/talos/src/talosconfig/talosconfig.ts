import { shownAs } from "../shown-as.ts";

/**
 * A client configuration: contexts with the credentials of clusters, by name. Keys are base64 of PEM text, as in the file.
 *
 * It holds private keys: `JSON.stringify` and `console.log` show none of it; {@link printTalosconfig} is the only way out.
 */
export interface Talosconfig {
  /** Name of the current context; may be empty or name nothing. */
  readonly context: string;
  readonly contexts: ReadonlyMap<string, TalosconfigContext>;
}

/** Access to one cluster. Printed or logged it shows a placeholder, because it holds a key. */
export interface TalosconfigContext {
  /** Where the client connects. */
  readonly endpoints: readonly string[];
  /** Whom requests are for when the caller names nobody. */
  readonly nodes?: readonly string[];
  readonly ca?: string;
  readonly crt?: string;
  readonly key?: string;
  readonly auth?: {
    readonly basic?: { readonly username: string; readonly password: string };
    readonly siderov1?: { readonly identity: string };
  };
  readonly cluster?: string;
  /** From Talos 1.14 on. */
  readonly proxyUrl?: string;
}

/** What a context of a cluster is made from. */
export interface TalosconfigInput {
  readonly clusterName: string;
  readonly endpoints?: readonly string[];
  readonly nodes?: readonly string[];
  /** PEM texts. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** A client configuration with one context, named after the cluster and current. */
export function createTalosconfig({ clusterName, endpoints = [], nodes, ca, certificate, key }: TalosconfigInput): Talosconfig {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  const context: TalosconfigContext = {
    endpoints,
    ...(nodes === undefined ? {} : { nodes }),
    ca: encode(ca),
    crt: encode(certificate),
    key: encode(key),
  };
  return hideContents({ context: clusterName, contexts: new Map([[clusterName, context]]) });
}

/** Keeps keys out of JSON, logs and the console, those of each context too. */
export function hideContents({ context, contexts }: Talosconfig): Talosconfig {
  const hidden = [...contexts].map(([name, value]) => [name, shownAs({ ...value }, "[talosconfig context]")] as const);
  return shownAs({ context, contexts: new Map(hidden) }, "[talosconfig]");
}
