import { CORE_SCHEMA, load } from "js-yaml";

import { countValuesAtMost } from "../config/yaml/count-values.ts";
import { SpecFault } from "./resource.ts";

/** Machines write no aliases into specs. */
const MAX_ALIASES = 0;
/** A machine that answers nonsense must not fill the memory: the largest spec is a config with its manifests. */
const MAX_LENGTH = 4 * 1024 * 1024;
const MAX_VALUES = 150_000;

/** The fields of one mapping in a spec. A field that is not there reads as the empty value, as in the protocol. */
export interface SpecReader {
  text(name: string): string;
  /** Like `text`, but `undefined` when absent or empty. */
  optionalText(name: string): string | undefined;
  flag(name: string): boolean;
  number(name: string): number;
  texts(name: string): readonly string[];
  textMap(name: string): Readonly<Record<string, string>>;
  /** Arguments of a program: up to Talos 1.12 each one text, from 1.13 on a mapping with `values`. */
  argumentMap(name: string): Readonly<Record<string, readonly string[]>>;
  child(name: string): SpecReader;
  children(name: string): readonly SpecReader[];
}

/**
 * Any YAML value of a spec; `undefined` for an empty text.
 *
 * @throws SpecFault when the text is no single YAML document, uses aliases, or is too large
 */
export function parseSpecYaml(yaml: string): unknown {
  if (yaml.trim() === "") return undefined;
  if (yaml.length > MAX_LENGTH || (yaml.length > MAX_VALUES && countValuesAtMost(yaml, MAX_VALUES) > MAX_VALUES))
    throw new SpecFault("spec is too large");
  try {
    return load(yaml, { schema: CORE_SCHEMA, maxAliases: MAX_ALIASES });
  } catch {
    // js-yaml quotes the text around the fault, which may be secret.
    throw new SpecFault("spec is not valid YAML");
  }
}

/** Specs that were read last, by their text: machines are asked far more often than they change. Longer texts, as of configs, are not kept. */
const MOST_KEPT = 1_024;
const LONGEST_KEPT = 2_048;
const kept = new Map<string, SpecReader>();

/** @throws SpecFault when the spec is not a mapping */
export function readSpec(yaml: string): SpecReader {
  const known = kept.get(yaml);
  if (known !== undefined) return known;
  const reader = readerOf(parseSpecYaml(yaml), "");
  if (yaml.length > LONGEST_KEPT) return reader;
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(yaml, reader);
  return reader;
}

function readerOf(value: unknown, path: string): SpecReader {
  if (value === undefined || value === null) return fieldsOf({}, path);
  if (typeof value !== "object" || Array.isArray(value)) throw new SpecFault(`${path === "" ? "spec" : path} is not a mapping`);
  return fieldsOf(value as Readonly<Record<string, unknown>>, path);
}

function fieldsOf(fields: Readonly<Record<string, unknown>>, path: string): SpecReader {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const valueOf = (name: string): unknown => (Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined);
  const typed = <T>(name: string, value: unknown, type: string, empty: T): T => {
    if (value === undefined) return empty;
    // oxlint-disable-next-line valid-typeof -- the callers below name the four types that a scalar can have
    if (typeof value !== type) throw new SpecFault(`${at(name)} is not a ${type}`);
    return value as T;
  };
  const list = (name: string): readonly unknown[] => {
    const value = valueOf(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw new SpecFault(`${at(name)} is not a list`);
    return value;
  };
  const text = (name: string): string => typed(name, valueOf(name), "string", "");
  return {
    text,
    optionalText: (name) => (text(name) === "" ? undefined : text(name)),
    flag: (name) => typed(name, valueOf(name), "boolean", false),
    number: (name) => typed(name, valueOf(name), "number", 0),
    texts: (name) => list(name).map((item, index) => typed(`${name}[${index}]`, item, "string", "")),
    textMap: (name) => {
      const map = valueOf(name) ?? {};
      if (typeof map !== "object" || Array.isArray(map)) throw new SpecFault(`${at(name)} is not a mapping`);
      return Object.fromEntries(Object.entries(map).map(([key, item]) => [key, typed(`${name}.${key}`, item, "string", "")]));
    },
    argumentMap(name) {
      const map = readerOf(valueOf(name), at(name));
      const names = Object.keys((valueOf(name) as object | undefined) ?? {});
      const isText = (argument: string): boolean => typeof (valueOf(name) as Readonly<Record<string, unknown>>)[argument] === "string";
      return Object.fromEntries(names.map((one) => [one, isText(one) ? [map.text(one)] : map.child(one).texts("values")]));
    },
    child: (name) => readerOf(valueOf(name), at(name)),
    children: (name) => list(name).map((item, index) => readerOf(item, `${at(name)}[${index}]`)),
  };
}
