import { decode } from "../document/decode.ts";
import { ConfigError, type ConfigErrorCode } from "../errors.ts";
import type { Generation, Type } from "../schema/notation.ts";
import type { YamlNode } from "./node.ts";
import { readYaml } from "./read.ts";

/** What a field of a struct is read with: its value and its dotted path. */
export type FieldReader = (value: YamlNode, path: string) => unknown;

export interface StructReaderOptions {
  /** Whose texts the refusals have: the older library writes a line for each problem, the newer one a list. */
  readonly generation: Generation;
  /** What happens to fields that a struct does not have: the text is refused, or they are handed to this function. */
  readonly unknown: "refuse" | ((node: YamlNode, path: string) => void);
}

/**
 * Reads the fields of structs out of YAML nodes by Go's rules, and collects all that is wrong instead of stopping at the first: null is
 * absent, any scalar is a text, null items of lists are dropped. For the small formats beside machine configs.
 */
export class StructReader {
  readonly #options: StructReaderOptions;
  readonly #found: ConfigError[] = [];

  constructor(options: StructReaderOptions) {
    this.#options = options;
  }

  /**
   * Root of the first document, `undefined` for a document that says nothing.
   *
   * @throws ConfigError `NOT_A_DOCUMENT` where there is no document at all, and the codes of reading YAML
   */
  root(text: string): YamlNode | undefined {
    const document = this.#read(text)[0];
    if (document === undefined) throw new ConfigError("NOT_A_DOCUMENT", "EOF");
    return document.root;
  }

  /** How many problems there are so far: more after reading a part means that the part has some. */
  get problemCount(): number {
    return this.#found.length;
  }

  /** @throws ConfigError with the code and the place of the first problem, and all of them in `detail` */
  throwProblems(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const list = this.#found.map(({ detail }) => detail);
    throw new ConfigError(first.code, this.#construct(list), { path: first.path, line: first.line, column: first.column });
  }

  problem(code: ConfigErrorCode, node: YamlNode, path: string, text: string): void {
    this.#found.push(new ConfigError(code, `line ${node.line}: ${text}`, { path, line: node.line, column: node.column }));
  }

  wrongType(node: YamlNode, wanted: string, path: string): undefined {
    this.problem("WRONG_TYPE", node, path, `cannot construct ${given(node)} into ${wanted}`);
  }

  /** Hands every member of a mapping to the reader of its field. False where there is no mapping. */
  fields(node: YamlNode | undefined, type: string, path: string, readers: Readonly<Record<string, FieldReader>>): boolean {
    if (node === undefined || isNull(node)) return false;
    if (node.type !== "mapping") {
      this.wrongType(node, type, path);
      return false;
    }
    for (const { key, keyNode, value } of node.entries) {
      const step = key.replaceAll(".", "\\.");
      const inner = path === "" ? step : `${path}.${step}`;
      const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
      if (read !== undefined) read(value, inner);
      else if (this.#options.unknown !== "refuse") this.#options.unknown(value, inner);
      else this.problem("UNKNOWN_FIELD", keyNode, inner, `field ${key} not found in type ${type}`);
    }
    return true;
  }

  /** Members of a map, in their order. */
  members(node: YamlNode, type: string, path: string): readonly { readonly key: string; readonly value: YamlNode }[] {
    if (isNull(node)) return [];
    if (node.type === "mapping") return node.entries;
    this.wrongType(node, type, path);
    return [];
  }

  /** Items of a list that are not null. */
  items(node: YamlNode, type: string, path: string): readonly YamlNode[] {
    if (isNull(node)) return [];
    if (node.type === "sequence") return node.items.filter((item) => !isNull(item));
    this.wrongType(node, type, path);
    return [];
  }

  texts(node: YamlNode, path: string): readonly string[] {
    return this.items(node, "[]string", path).map((item, index) => this.text(item, `${path}[${index}]`) ?? "");
  }

  /** A text that is not empty. */
  text(node: YamlNode, path: string): string | undefined {
    if (isNull(node)) return undefined;
    if (node.type !== "scalar" || (node.kind === "timestamp" && this.#options.generation !== "1.13")) {
      return this.wrongType(node, "string", path);
    }
    return node.text === "" ? undefined : node.text;
  }

  /** A number or a boolean. */
  leaf(type: Type, node: YamlNode, path: string): unknown {
    try {
      return decode(type, node, path);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return this.wrongType(node, "name" in type ? type.name : type.kind, path);
    }
  }

  #read(text: string): ReturnType<typeof readYaml> {
    try {
      return readYaml(text);
    } catch (error) {
      if (!(error instanceof ConfigError) || error.code !== "DUPLICATE_KEY") throw error;
      // The reader speaks for machine configs, whose texts name the document as well.
      const line = error.detail.slice(error.detail.indexOf("\n  line ") + 3);
      throw new ConfigError(error.code, this.#construct([line]), error, { cause: error });
    }
  }

  #construct(problems: readonly string[]): string {
    return this.#options.generation === "1.13"
      ? `yaml: construct errors:\n  ${problems.join("\n  ")}`
      : `yaml: construct errors: ${problems.join("; ")}`;
  }
}

/** True for `null`, `~` and nothing. */
export function isNull(node: YamlNode): boolean {
  return node.type === "scalar" && node.kind === "null";
}

/** Kind and beginning of a value: enough to find it, too little to give a key away. */
function given(node: YamlNode): string {
  if (node.type !== "scalar") return node.type === "sequence" ? "!!seq" : "!!map";
  return `!!${node.kind} \`${node.text.length > 10 ? `${node.text.slice(0, 7)}...` : node.text}\``;
}
