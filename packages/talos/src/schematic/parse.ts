import type { YamlValue } from "../config/yaml/emit.ts";
import { freeValue } from "../config/yaml/free-value.ts";
import type { YamlNode } from "../config/yaml/node.ts";
import { isNull, StructReader } from "../config/yaml/struct-reader.ts";
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
  const reader = new StructReader({ generation: "1.14", unknown: "refuse" });
  const root = reader.root(text);
  let owner: string | undefined;
  let overlay: SchematicOverlay | undefined;
  let customization: SchematicCustomization = {};
  reader.fields(root, "schematic.Schematic", "", {
    owner: (value, path) => (owner = reader.text(value, path)),
    overlay: (value, path) => (overlay = readOverlay(reader, value, path)),
    customization: (value, path) => (customization = readCustomization(reader, value, path)),
  });
  reader.throwProblems();
  return { ...present({ owner, overlay }), customization: hideEmbeddedConfig(customization) };
}

/**
 * The sentence with which the community edition of the factory refuses a schematic that has an id all the same; `undefined` when it takes it.
 */
export function communityRefusal({ owner }: Schematic): string | undefined {
  return owner === undefined ? undefined : "owner field is only supported in Enterprise edition";
}

function readOverlay(reader: StructReader, node: YamlNode, path: string): SchematicOverlay | undefined {
  let image = "";
  let name = "";
  let options: ReadonlyMap<string, YamlValue> | undefined;
  reader.fields(node, "schematic.Overlay", path, {
    image: (value, at) => (image = reader.text(value, at) ?? ""),
    name: (value, at) => (name = reader.text(value, at) ?? ""),
    options: (value, at) => (options = readOptions(reader, value, at)),
  });
  return image === "" && name === "" && options === undefined ? undefined : { image, name, ...present({ options }) };
}

function readOptions(reader: StructReader, node: YamlNode, path: string): ReadonlyMap<string, YamlValue> | undefined {
  if (isNull(node)) return undefined;
  const value = freeValue(node);
  if (!(value instanceof Map)) return reader.wrongType(node, "map[string]interface {}", path);
  return value.size === 0 ? undefined : (value as ReadonlyMap<string, YamlValue>);
}

function readCustomization(reader: StructReader, node: YamlNode, path: string): SchematicCustomization {
  let out: SchematicCustomization = {};
  const add = (part: { readonly [K in keyof SchematicCustomization]: SchematicCustomization[K] | undefined }): void => {
    out = { ...out, ...present(part) };
  };
  reader.fields(node, "schematic.Customization", path, {
    embeddedMachineConfiguration: (value, at) => add({ embeddedMachineConfiguration: reader.text(value, at) }),
    extraKernelArgs: (value, at) => add({ extraKernelArgs: filled(reader.texts(value, at)) }),
    meta: (value, at) => add({ meta: readMeta(reader, value, at) }),
    systemExtensions: (value, at) =>
      reader.fields(value, "schematic.SystemExtensions", at, {
        officialExtensions: (list, inner) => {
          const officialExtensions = filled(reader.texts(list, inner));
          add({ systemExtensions: officialExtensions === undefined ? undefined : { officialExtensions } });
        },
      }),
    bootloader: (value, at) => add({ bootloader: readBootloader(reader, value, at) }),
    secureboot: (value, at) => add({ secureboot: readSecureboot(reader, value, at) }),
    diskImage: (value, at) =>
      reader.fields(value, "schematic.DiskImage", at, {
        sectorSize: (size, inner) => {
          const sectorSize = reader.leaf({ kind: "uint", bits: 64, name: "uint" }, size, inner) as bigint | undefined;
          add({ diskImage: sectorSize === undefined || sectorSize === 0n ? undefined : { sectorSize } });
        },
      }),
  });
  return out;
}

function readMeta(reader: StructReader, node: YamlNode, path: string): SchematicCustomization["meta"] {
  const values = reader.items(node, "[]schematic.MetaValue", path).map((item, index) => {
    let key = 0;
    let value = "";
    reader.fields(item, "schematic.MetaValue", `${path}[${index}]`, {
      key: (number, at) => (key = Number(reader.leaf({ kind: "uint", bits: 8, name: "uint8" }, number, at) ?? 0)),
      value: (text, at) => (value = reader.text(text, at) ?? ""),
    });
    return { key, value };
  });
  return filled(values);
}

function readBootloader(reader: StructReader, node: YamlNode, path: string): Bootloader | undefined {
  if (isNull(node)) return undefined;
  if (node.type !== "scalar") return reader.wrongType(node, "imageropts.BootloaderKind", path);
  const name = node.text.toLowerCase();
  const known = bootloaders.find((bootloader) => bootloader === name);
  if (known === undefined && name !== "none")
    reader.problem("INVALID_VALUE", node, path, `${node.text} does not belong to BootloaderKind values`);
  return known;
}

function readSecureboot(reader: StructReader, node: YamlNode, path: string): SchematicCustomization["secureboot"] {
  let enrollKeys: string | undefined;
  let includes = false;
  reader.fields(node, "schematic.SecureBootCustomization", path, {
    enrollKeys: (value, at) => (enrollKeys = reader.text(value, at)),
    includeWellKnownCertificates: (value, at) => (includes = reader.leaf({ kind: "bool", bits: 0, name: "bool" }, value, at) === true),
  });
  if (enrollKeys === undefined && !includes) return undefined;
  return { ...present({ enrollKeys }), ...(includes ? { includeWellKnownCertificates: true } : {}) };
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
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
