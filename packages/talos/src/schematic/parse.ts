import { decode } from "../config/document/decode.ts";
import { ConfigError } from "../config/errors.ts";
import type { Type } from "../config/schema/notation.ts";
import type { YamlValue } from "../config/yaml/emit.ts";
import { freeValue } from "../config/yaml/free-value.ts";
import { readYaml, type YamlNode } from "../config/yaml/read.ts";
import { shownAs } from "../shown-as.ts";
import { bootloaders, type Bootloader, type Schematic, type SchematicCustomization, type SchematicOverlay } from "./schematic.ts";

/**
 * Reads a schematic strictly, as the Image Factory does: unknown fields are refused, what is empty is the same as what is absent, only the
 * first document counts. Anchors and tags, which the factory would take, are refused.
 *
 * @throws ConfigError `UNKNOWN_FIELD`, `WRONG_TYPE`, `INVALID_VALUE`, `NOT_A_DOCUMENT` (no document), and the codes of reading YAML.
 * `detail` lists every problem of the text.
 */
export function parseSchematic(text: string): Schematic {
  const document = readSchematicYaml(text)[0];
  if (document === undefined) throw new ConfigError("NOT_A_DOCUMENT", "EOF");
  const problems = new Problems();
  const { root } = document;
  let owner: string | undefined;
  let overlay: SchematicOverlay | undefined;
  let customization: SchematicCustomization = {};
  problems.fields(root, "schematic.Schematic", "", {
    owner: (value, path) => (owner = problems.text(value, path)),
    overlay: (value, path) => (overlay = readOverlay(problems, value, path)),
    customization: (value, path) => (customization = readCustomization(problems, value, path)),
  });
  problems.throwAny();
  return { ...present({ owner, overlay }), customization: hideEmbeddedConfig(customization) };
}

/**
 * The sentence with which the community edition of the factory refuses a schematic that has an id all the same; `undefined` when it takes it.
 */
export function communityRefusal({ owner }: Schematic): string | undefined {
  return owner === undefined ? undefined : "owner field is only supported in Enterprise edition";
}

function readOverlay(problems: Problems, node: YamlNode, path: string): SchematicOverlay | undefined {
  let image = "";
  let name = "";
  let options: ReadonlyMap<string, YamlValue> | undefined;
  problems.fields(node, "schematic.Overlay", path, {
    image: (value, at) => (image = problems.text(value, at) ?? ""),
    name: (value, at) => (name = problems.text(value, at) ?? ""),
    options: (value, at) => (options = problems.options(value, at)),
  });
  return image === "" && name === "" && options === undefined ? undefined : { image, name, ...present({ options }) };
}

function readCustomization(problems: Problems, node: YamlNode, path: string): SchematicCustomization {
  let out: SchematicCustomization = {};
  const add = (part: { readonly [K in keyof SchematicCustomization]: SchematicCustomization[K] | undefined }): void => {
    out = { ...out, ...present(part) };
  };
  problems.fields(node, "schematic.Customization", path, {
    embeddedMachineConfiguration: (value, at) => add({ embeddedMachineConfiguration: problems.text(value, at) }),
    extraKernelArgs: (value, at) => add({ extraKernelArgs: problems.texts(value, at) }),
    meta: (value, at) => add({ meta: readMeta(problems, value, at) }),
    systemExtensions: (value, at) =>
      problems.fields(value, "schematic.SystemExtensions", at, {
        officialExtensions: (list, inner) => {
          const officialExtensions = problems.texts(list, inner);
          add({ systemExtensions: officialExtensions === undefined ? undefined : { officialExtensions } });
        },
      }),
    bootloader: (value, at) => add({ bootloader: readBootloader(problems, value, at) }),
    secureboot: (value, at) => add({ secureboot: readSecureboot(problems, value, at) }),
    diskImage: (value, at) =>
      problems.fields(value, "schematic.DiskImage", at, {
        sectorSize: (size, inner) => {
          const sectorSize = problems.leaf({ kind: "uint", bits: 64, name: "uint" }, size, inner) as bigint | undefined;
          add({ diskImage: sectorSize === undefined || sectorSize === 0n ? undefined : { sectorSize } });
        },
      }),
  });
  return out;
}

function readMeta(problems: Problems, node: YamlNode, path: string): SchematicCustomization["meta"] {
  const values = problems.list(node, "[]schematic.MetaValue", path).map((item, index) => {
    let key = 0;
    let value = "";
    problems.fields(item, "schematic.MetaValue", `${path}[${index}]`, {
      key: (number, at) => (key = Number(problems.leaf({ kind: "uint", bits: 8, name: "uint8" }, number, at) ?? 0)),
      value: (text, at) => (value = problems.text(text, at) ?? ""),
    });
    return { key, value };
  });
  return values.length === 0 ? undefined : values;
}

function readBootloader(problems: Problems, node: YamlNode, path: string): Bootloader | undefined {
  if (node.type === "scalar" && node.kind === "null") return undefined;
  if (node.type !== "scalar") {
    problems.wrongType(node, "imageropts.BootloaderKind", path);
    return undefined;
  }
  const name = node.text.toLowerCase();
  const known = bootloaders.find((bootloader) => bootloader === name);
  if (known === undefined && name !== "none")
    problems.add("INVALID_VALUE", node, path, `${node.text} does not belong to BootloaderKind values`);
  return known;
}

function readSecureboot(problems: Problems, node: YamlNode, path: string): SchematicCustomization["secureboot"] {
  let enrollKeys: string | undefined;
  let includes = false;
  problems.fields(node, "schematic.SecureBootCustomization", path, {
    enrollKeys: (value, at) => (enrollKeys = problems.text(value, at)),
    includeWellKnownCertificates: (value, at) => (includes = problems.leaf({ kind: "bool", bits: 0, name: "bool" }, value, at) === true),
  });
  if (enrollKeys === undefined && !includes) return undefined;
  return { ...present({ enrollKeys }), ...(includes ? { includeWellKnownCertificates: true } : {}) };
}

/** What is wrong with a text, all of it: the factory names every line. */
class Problems {
  readonly #found: ConfigError[] = [];

  throwAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const list = this.#found.map(({ detail }) => detail).join("; ");
    throw new ConfigError(first.code, `yaml: construct errors: ${list}`, { path: first.path, line: first.line, column: first.column });
  }

  add(code: "UNKNOWN_FIELD" | "WRONG_TYPE" | "INVALID_VALUE", node: YamlNode, path: string, text: string): void {
    this.#found.push(new ConfigError(code, `line ${node.line}: ${text}`, { path, line: node.line, column: node.column }));
  }

  wrongType(node: YamlNode, wanted: string, path: string): void {
    const given =
      node.type === "scalar"
        ? `!!${node.kind} \`${node.text.length > 10 ? `${node.text.slice(0, 7)}...` : node.text}\``
        : node.type === "sequence"
          ? "!!seq"
          : "!!map";
    this.add("WRONG_TYPE", node, path, `cannot construct ${given} into ${wanted}`);
  }

  /** Hands every member of a mapping to the reader of its field; null is a mapping without members. */
  fields(
    node: YamlNode | undefined,
    type: string,
    path: string,
    readers: Readonly<Record<string, (value: YamlNode, path: string) => unknown>>,
  ): void {
    if (node === undefined || isNull(node)) return;
    if (node.type !== "mapping") return this.wrongType(node, type, path);
    for (const { key, keyNode, value } of node.entries) {
      const inner = path === "" ? key : `${path}.${key}`;
      const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
      if (read === undefined) this.add("UNKNOWN_FIELD", keyNode, inner, `field ${key} not found in type ${type}`);
      else read(value, inner);
    }
  }

  /** Items of a list; those that are null are dropped, as Go drops them. */
  list(node: YamlNode, type: string, path: string): readonly YamlNode[] {
    if (isNull(node)) return [];
    if (node.type === "sequence") return node.items.filter((item) => !isNull(item));
    this.wrongType(node, type, path);
    return [];
  }

  texts(node: YamlNode, path: string): readonly string[] | undefined {
    const items = this.list(node, "[]string", path).map((item, index) => this.text(item, `${path}[${index}]`) ?? "");
    return items.length === 0 ? undefined : items;
  }

  /** A text that is not empty. */
  text(node: YamlNode, path: string): string | undefined {
    if (isNull(node)) return undefined;
    if (node.type !== "scalar" || node.kind === "timestamp") {
      this.wrongType(node, "string", path);
      return undefined;
    }
    return node.text === "" ? undefined : node.text;
  }

  options(node: YamlNode, path: string): ReadonlyMap<string, YamlValue> | undefined {
    if (isNull(node)) return undefined;
    const value = freeValue(node);
    if (value instanceof Map) return value.size === 0 ? undefined : (value as ReadonlyMap<string, YamlValue>);
    this.wrongType(node, "map[string]interface {}", path);
    return undefined;
  }

  leaf(type: Type, node: YamlNode, path: string): unknown {
    try {
      return decode(type, node, path);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.wrongType(node, "name" in type ? type.name : type.kind, path);
      return undefined;
    }
  }
}

function readSchematicYaml(text: string): ReturnType<typeof readYaml> {
  try {
    return readYaml(text);
  } catch (error) {
    if (!(error instanceof ConfigError) || error.code !== "DUPLICATE_KEY") throw error;
    // The reader speaks for machine configs, whose texts name the document as well.
    const detail = error.detail.slice(error.detail.indexOf("yaml: ")).replace(":\n  line", ": line");
    throw new ConfigError(error.code, detail, error, { cause: error });
  }
}

function isNull(node: YamlNode): boolean {
  return node.type === "scalar" && node.kind === "null";
}

/** The members that have a value. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function hideEmbeddedConfig(customization: SchematicCustomization): SchematicCustomization {
  if (customization.embeddedMachineConfiguration === undefined) return customization;
  return shownAs({ ...customization }, { ...customization, embeddedMachineConfiguration: "[machine config]" });
}
