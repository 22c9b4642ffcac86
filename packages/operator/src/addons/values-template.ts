import { dump, loadAll } from "js-yaml";

/** What a template may name of its cluster: `{{ .Cluster.Name }}` and so on. Documented in `docs/howto/addons.md`. */
export interface ClusterValues {
  readonly Name: string;
  readonly Namespace: string;
  /** URL of the Kubernetes API. */
  readonly Endpoint: string;
  readonly EndpointHost: string;
  readonly EndpointPort: string;
  /** Where every Node reaches the API, whatever becomes of the endpoint: host and port of KubePrism. */
  readonly KubePrismHost: string;
  readonly KubePrismPort: string;
  readonly PodCIDR: string;
  readonly ServiceCIDR: string;
  readonly Domain: string;
  readonly KubernetesVersion: string;
  readonly TalosVersion: string;
  /** `metal`, `container` or `cloud`. */
  readonly Provider: string;
}

/** Most characters of values, template and objects alike. A release has to fit into a Secret. */
export const LONGEST_VALUES = 1_000_000;

/** Values that cannot be used; the message is for people, and quotes nothing of the values. */
export class ValuesError extends Error {
  override readonly name = "ValuesError";
}

export interface RenderedValues {
  /** YAML of an object; empty = no values. */
  readonly document: string;
  /** It was text as `helm --set` takes it. */
  readonly isSetSyntax: boolean;
}

/**
 * Puts facts of the cluster into a template. There is no code in a template: only names in braces are replaced, and what comes out must be YAML of an object.
 *
 * @throws ValuesError
 */
export function renderValues(template: string, cluster: ClusterValues): RenderedValues {
  if (template.length > LONGEST_VALUES) throw new ValuesError(`valuesTemplate has more than ${LONGEST_VALUES} characters`);
  const document = withFacts(template, new Map(Object.entries(cluster)));
  const read = readYaml(document, "valuesTemplate");
  if (read === undefined || read === null) return { document: "", isSetSyntax: false };
  if (typeof read === "string" && read.includes("=")) return { document: dump(fromSetSyntax(read)), isSetSyntax: true };
  demandObject(read, "valuesTemplate");
  return { document, isSetSyntax: false };
}

/** By hand: with a pattern the time would grow with the cube of the length, and a template holds up every other pass. @throws ValuesError */
function withFacts(template: string, facts: ReadonlyMap<string, unknown>): string {
  let document = "";
  let at = 0;
  for (let open = template.indexOf("{{"); open !== -1; open = template.indexOf("{{", at)) {
    const close = template.indexOf("}}", open + 2);
    if (close === -1) break;
    const expression = template
      .slice(open + 2, close)
      .replace(/^-/, "")
      .replace(/-$/, "")
      .trim();
    const [, name = ""] = /^\.Cluster\.(\w+)$/.exec(expression) ?? [];
    const value = facts.get(name);
    if (typeof value !== "string")
      throw new ValuesError(
        `valuesTemplate names {{ ${expression.slice(0, 60)} }}; it may name ${[...facts.keys()].map((fact) => `.Cluster.${fact}`).join(", ")}`,
      );
    document += template.slice(at, open) + value;
    at = close + 2;
  }
  return document + template.slice(at);
}

/** @throws ValuesError when the text is not YAML of an object */
export function demandValues(text: string, where: string): void {
  if (text.length > LONGEST_VALUES) throw new ValuesError(`${where} has more than ${LONGEST_VALUES} characters`);
  const read = readYaml(text, where);
  if (read !== undefined && read !== null) demandObject(read, where);
}

function readYaml(text: string, where: string): unknown {
  let documents: readonly unknown[];
  try {
    // As Helm reads it: of a key that stands twice the last one counts.
    documents = loadAll(text, null, { json: true });
  } catch (thrown) {
    const mark = (thrown as { readonly mark?: { readonly line?: number } }).mark?.line;
    throw new ValuesError(`${where} is no YAML${mark === undefined ? "" : `, line ${mark + 1}`}`, { cause: thrown });
  }
  if (documents.length > 1) throw new ValuesError(`${where} holds more than one YAML document`);
  return documents[0];
}

function demandObject(read: unknown, where: string): void {
  if (typeof read !== "object" || Array.isArray(read)) throw new ValuesError(`${where} holds no object of keys and values`);
}

/** `a.b=1,c={x,y}` as `helm --set` reads it, without indexes. @throws ValuesError */
function fromSetSyntax(text: string): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const part of splitAt(text.trim().replace(/\n/g, ","), ",")) {
    if (part.trim() === "") continue;
    const equals = part.indexOf("=");
    const path = splitAt(part.slice(0, Math.max(0, equals)).trim(), ".").map(unescaped);
    if (equals < 1 || path.some((key) => key === "" || key.includes("[") || key === "__proto__"))
      throw new ValuesError("valuesTemplate has the form a=b,c=d, and a part of it cannot be read; write YAML instead");
    let at = values;
    for (const key of path.slice(0, -1)) {
      const next = at[key];
      const inner = typeof next === "object" && next !== null && !Array.isArray(next) ? (next as Record<string, unknown>) : {};
      at[key] = inner;
      at = inner;
    }
    at[path.at(-1) ?? ""] = setValue(part.slice(equals + 1));
  }
  return values;
}

function setValue(text: string): unknown {
  if (text.startsWith("{") && text.endsWith("}"))
    return text.length === 2 ? [] : splitAt(text.slice(1, -1), ",").map((one) => scalar(one.trim()));
  return scalar(text);
}

function scalar(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  if (text === "null") return null;
  if (/^(0|-?[1-9]\d{0,15})$/.test(text)) return Number(text);
  return unescaped(text);
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}

/** Parts between separators that stand neither after a backslash nor in braces. */
function splitAt(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === "\\") part += char + text.charAt(++index);
    else if (char === separator && depth === 0) {
      parts.push(part);
      part = "";
    } else {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      part += char;
    }
  }
  return [...parts, part];
}
