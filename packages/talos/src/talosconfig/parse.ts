import type { Generation } from "../config/schema/notation.ts";
import type { YamlNode } from "../config/yaml/node.ts";
import { StructReader } from "../config/yaml/struct-reader.ts";
import { hideContents, type Talosconfig, type TalosconfigContext } from "./talosconfig.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] | undefined };

/**
 * Reads a client configuration. Unknown fields are dropped, as talosctl drops them; the old `target` joins the endpoints.
 *
 * @throws ConfigError `WRONG_TYPE` with all that has another type, `NOT_A_DOCUMENT` for an empty text, and the codes of reading YAML
 */
export function parseTalosconfig(text: string): Talosconfig {
  return readTalosconfig(text, "1.14");
}

/** The same, with refusals in the words of one generation of the genuine tool. */
export function readTalosconfig(text: string, generation: Generation): Talosconfig {
  const reader = new StructReader({ generation, unknown: () => undefined });
  let context = "";
  let contexts: readonly (readonly [string, TalosconfigContext])[] = [];
  reader.fields(reader.root(text), "config.Config", "", {
    context: (node, path) => (context = reader.text(node, path) ?? ""),
    contexts: (node, path) => {
      const members = reader.members(node, "map[string]*config.Context", path);
      contexts = members.map(({ key, value }) => [key, readContext(reader, value, `${path}.${key}`, generation)]);
    },
  });
  reader.throwProblems();
  return hideContents({ context, contexts: new Map(contexts) });
}

function readContext(reader: StructReader, node: YamlNode, path: string, generation: Generation): TalosconfigContext {
  let endpoints: readonly string[] = [];
  let target: string | undefined;
  const rest: Mutable<Omit<TalosconfigContext, "endpoints">> = {};
  reader.fields(node, "config.Context", path, {
    target: (value, at) => (target = reader.text(value, at)),
    endpoints: (value, at) => (endpoints = reader.texts(value, at)),
    nodes: (value, at) => (rest.nodes = reader.texts(value, at)),
    ca: (value, at) => (rest.ca = reader.text(value, at)),
    crt: (value, at) => (rest.crt = reader.text(value, at)),
    key: (value, at) => (rest.key = reader.text(value, at)),
    auth: (value, at) => (rest.auth = readAuth(reader, value, at)),
    cluster: (value, at) => (rest.cluster = reader.text(value, at)),
    // Talos 1.13 does not know it, and drops it like any other.
    "proxy-url": (value, at) => (rest.proxyUrl = generation === "1.13" ? undefined : reader.text(value, at)),
  });
  if (rest.nodes?.length === 0) rest.nodes = undefined;
  return { endpoints: target === undefined ? endpoints : [...endpoints, target], ...present(rest) };
}

function readAuth(reader: StructReader, node: YamlNode, path: string): TalosconfigContext["auth"] {
  let basic: { readonly username: string; readonly password: string } | undefined;
  let siderov1: { readonly identity: string } | undefined;
  reader.fields(node, "config.Auth", path, {
    basic: (value, at) => {
      let [username, password] = ["", ""];
      const isThere = reader.fields(value, "config.Basic", at, {
        username: (text, inner) => (username = reader.text(text, inner) ?? ""),
        password: (text, inner) => (password = reader.text(text, inner) ?? ""),
      });
      if (isThere) basic = { username, password };
    },
    siderov1: (value, at) => {
      let identity = "";
      const isThere = reader.fields(value, "config.SideroV1", at, {
        identity: (text, inner) => (identity = reader.text(text, inner) ?? ""),
      });
      if (isThere) siderov1 = { identity };
    },
  });
  return basic === undefined && siderov1 === undefined ? undefined : present({ basic, siderov1 });
}

/** The members that have a value. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
