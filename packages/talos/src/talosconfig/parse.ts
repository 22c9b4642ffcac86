import { ConfigError } from "../config/errors.ts";
import { nodeAt, textAt, textsAt } from "../config/yaml/navigate.ts";
import { readYaml, type YamlNode } from "../config/yaml/read.ts";
import { hideContents, type Talosconfig, type TalosconfigContext } from "./talosconfig.ts";

/**
 * Reads a client configuration. Unknown fields are dropped, as talosctl drops them; the old `target` joins the endpoints.
 *
 * @throws ConfigError `WRONG_TYPE` and the codes of reading YAML
 */
export function parseTalosconfig(text: string): Talosconfig {
  const root = readYaml(text)[0]?.root;
  if (root !== undefined && root.type !== "mapping") throw wrongType(root, "config.Config", "");
  const contexts = nodeAt(root, "contexts");
  if (contexts !== undefined && contexts.type !== "mapping" && !isNull(contexts)) {
    throw wrongType(contexts, "map[string]*config.Context", "contexts");
  }
  const entries = contexts?.type === "mapping" ? contexts.entries : [];
  return hideContents({
    context: textAt(root, "context") ?? "",
    contexts: new Map(entries.map(({ key, value }) => [key, parseContext(value, `contexts.${key}`)])),
  });
}

function parseContext(node: YamlNode, path: string): TalosconfigContext {
  if (node.type !== "mapping" && !isNull(node)) throw wrongType(node, "config.Context", path);
  for (const list of ["endpoints", "nodes"]) {
    const value = nodeAt(node, list);
    if (value !== undefined && value.type !== "sequence" && !isNull(value)) throw wrongType(value, "[]string", `${path}.${list}`);
  }
  const target = textAt(node, "target");
  const nodes = textsAt(node, "nodes");
  const basic = nodeAt(node, "auth", "basic");
  const siderov1 = nodeAt(node, "auth", "siderov1");
  const optional = (key: string): string | undefined => textAt(node, key);
  return {
    endpoints: [...textsAt(node, "endpoints"), ...(target === undefined ? [] : [target])],
    ...(nodes.length === 0 ? {} : { nodes }),
    ...present({ ca: optional("ca"), crt: optional("crt"), key: optional("key") }),
    ...(basic?.type !== "mapping" && siderov1?.type !== "mapping"
      ? {}
      : {
          auth: {
            ...(basic?.type === "mapping"
              ? { basic: { username: textAt(basic, "username") ?? "", password: textAt(basic, "password") ?? "" } }
              : {}),
            ...(siderov1?.type === "mapping" ? { siderov1: { identity: textAt(siderov1, "identity") ?? "" } } : {}),
          },
        }),
    ...present({ cluster: optional("cluster"), proxyUrl: optional("proxy-url") }),
  };
}

/** The members that have a value. */
function present<K extends string>(members: Readonly<Record<K, string | undefined>>): Partial<Record<K, string>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Record<K, string>>;
}

function isNull(node: YamlNode): boolean {
  return node.type === "scalar" && node.kind === "null";
}

function wrongType(node: YamlNode, wanted: string, path: string): ConfigError {
  const given = node.type === "scalar" ? `!!${node.kind}` : node.type === "sequence" ? "!!seq" : "!!map";
  const detail = `yaml: construct errors:\n  line ${node.line}: cannot construct ${given} into ${wanted}`;
  return new ConfigError("WRONG_TYPE", detail, { path, line: node.line, column: node.column });
}
