import { codecs, enumeration, type Codec } from "../scalars/codecs.ts";
import { newerDocuments } from "./newer-documents.ts";
import { talos113 } from "./gen/talos-1.13.ts";

/**
 * Shapes of all machine-config documents, read from lines of text:
 *
 * ```
 * doc HostnameConfig network.HostnameConfigV1Alpha1 [named]     a document, its type, whether its name belongs to its identity
 * type network.LinkSelector: match:cel.Expression?              a struct with its fields in the order in which they are printed
 * list network.PortRanges: network.PortRange                    a list or map with a name of its own, because it merges in its own way
 * enum nethelpers.BondMode: balance-rr|active-backup            texts of an enumeration, zero value first
 * ```
 * A field type is `[]T`, `map:T`, `*T` (may be absent even when its zero value is meaningful), the name of a line, of a codec, or a Go scalar.
 * Behind it: `?` the empty value is not printed, `!` a patch replaces the value instead of merging. (`@` marks
 * lists that Go prints when they are empty but not nil, which no text can bring about.)
 */
export interface Schema {
  /** `undefined` for kinds that this release does not know. */
  document(kind: string): DocumentShape | undefined;
  /** All kinds, `v1alpha1` among them. */
  readonly kinds: readonly string[];
}

export interface DocumentShape {
  readonly kind: string;
  readonly isNamed: boolean;
  readonly type: StructType;
}

export type Type = StructType | ListType | MapType | PointerType | ScalarType | CodecType | ArgumentType | AnyType;

export interface StructType {
  readonly kind: "struct";
  readonly name: string;
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
}
export interface ListType {
  readonly kind: "list";
  /** Empty unless the list has a name of its own. */
  readonly name: string;
  readonly item: Type;
}
interface MapType {
  readonly kind: "map";
  readonly name: string;
  readonly value: Type;
}
interface PointerType {
  readonly kind: "pointer";
  readonly to: Type;
}
interface ScalarType {
  readonly kind: "string" | "bool" | "int" | "uint";
  /** Width of a number in bits. */
  readonly bits: number;
  readonly name: string;
}
export interface CodecType {
  readonly kind: "codec";
  readonly name: string;
  readonly codec: Codec;
}
/** A command-line argument of a Kubernetes component: a string or a list of strings. */
interface ArgumentType {
  readonly kind: "argument";
}
/** Whatever the text holds: configuration of Kubernetes components and the like. */
interface AnyType {
  readonly kind: "any";
  /** Only mappings are taken. */
  readonly isMapping: boolean;
}

export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly omitsEmpty: boolean;
  readonly isReplaced: boolean;
}

/** Which machinery's rules to follow: that of Talos 1.13 and older, or of 1.14 and newer. */
export type Generation = "1.13" | "1.14";

/** Certificates and keys inside v1alpha1: base64 of PEM, printed even when empty. */
const encodedKeys = `
type x509.PEMEncodedCertificateAndKey: crt:base64 key:base64
type x509.PEMEncodedCertificate: crt:base64
type x509.PEMEncodedKey: key:base64
`;

const schemas = new Map<Generation, Schema>();

/** The documents that a generation knows. Read once, on first use. */
export function schemaOf(generation: Generation): Schema {
  const known = schemas.get(generation);
  if (known !== undefined) return known;
  const schema = readSchema(generation === "1.13" ? [encodedKeys, talos113] : [encodedKeys, talos113, newerDocuments]);
  schemas.set(generation, schema);
  return schema;
}

function readSchema(texts: readonly string[]): Schema {
  const lines = new Map<string, readonly [word: string, rest: string]>();
  const documents = new Map<string, readonly string[]>();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    const [word = "", subject = "", ...rest] = line.split(" ");
    if (word === "doc") documents.set(subject, rest);
    else if (word !== "") lines.set(subject.slice(0, -1), [word, rest.join(" ")]);
  }
  const types = new Types(lines);
  const shapes = new Map<string, DocumentShape>();
  return {
    kinds: [...documents.keys()],
    document: (kind) => {
      const parts = documents.get(kind);
      const known = shapes.get(kind);
      if (parts === undefined || known !== undefined) return known;
      const shape: DocumentShape = { kind, isNamed: parts.includes("named"), type: types.struct(parts[0] as string) };
      shapes.set(kind, shape);
      return shape;
    },
  };
}

class Types {
  readonly #lines: ReadonlyMap<string, readonly [string, string]>;
  readonly #known = new Map<string, Type>();

  constructor(lines: ReadonlyMap<string, readonly [string, string]>) {
    this.#lines = lines;
  }

  struct(name: string): StructType {
    const type = this.of(name);
    if (type.kind !== "struct") throw new Error(`the schema has no struct ${name}`);
    return type;
  }

  of(text: string): Type {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const type = this.#read(text);
    this.#known.set(text, type);
    return type;
  }

  #read(text: string): Type {
    if (text.startsWith("*")) return { kind: "pointer", to: this.of(text.slice(1)) };
    if (text.startsWith("[]")) return { kind: "list", name: "", item: this.of(text.slice(2)) };
    if (text.startsWith("map:")) return { kind: "map", name: "", value: this.of(text.slice(4)) };
    if (text === "any") return { kind: "any", isMapping: false };
    if (text === "v1alpha1.Unstructured") return { kind: "any", isMapping: true };
    if (text === "v1alpha1.ArgValue") return { kind: "argument" };
    if (text === "string" || text === "bool") return { kind: text, bits: 0, name: text };
    const number = /^(u?)int(\d*)$/.exec(text);
    if (number !== null) return { kind: number[1] === "u" ? "uint" : "int", bits: Number(number[2] || 64), name: text };
    const codec = codecs.get(text);
    if (codec !== undefined) return { kind: "codec", name: text, codec };
    const [word, rest = ""] = this.#lines.get(text) ?? [];
    switch (word) {
      case "type":
        return this.#struct(text, rest);
      case "list":
        return { kind: "list", name: text, item: this.of(rest) };
      case "map":
        return { kind: "map", name: text, value: this.of(rest) };
      case "enum":
        return { kind: "codec", name: text, codec: enumeration(text, rest.split("|")) };
      default:
        throw new Error(`the schema has no type ${text}`);
    }
  }

  #struct(name: string, rest: string): StructType {
    const fields = rest
      .split(" ")
      .filter((part) => part !== "")
      .map((part): Field => {
        const [, field = "", type = "", flags = ""] = /^([^:]+):(.*?)([?!@]*)$/.exec(part) ?? [];
        return {
          name: field,
          type: this.of(type),
          omitsEmpty: flags.includes("?"),
          isReplaced: flags.includes("!"),
        };
      });
    return { kind: "struct", name, fields, byName: new Map(fields.map((field) => [field.name, field])) };
  }
}
