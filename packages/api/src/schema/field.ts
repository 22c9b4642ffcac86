import type { JsonSchema, ValidationRule } from "./json-schema.ts";

/**
 * A schema node together with the static type of the values it accepts.
 *
 * The one source of a field: the CRD prints `schema`, the documentation reads its descriptions, and {@link Infer} gives the type.
 * `T` lives in the type system only; at run time a field is its schema and whether its parent requires it.
 */
export interface Field<out T, out R extends boolean = boolean> {
  readonly schema: JsonSchema;
  /** True when the parent object lists the field under `required`. */
  readonly isRequired: R;
  /** Never set; carries `T` for {@link Infer}. */
  readonly valueType?: T;
}

/** The static type of the values that a field's schema accepts. */
export type Infer<F> = F extends Field<infer T> ? T : never;

/** The fields of an object schema, by wire name. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

type RequiredKeys<P extends Fields> = { [K in keyof P]: P[K] extends Field<unknown, true> ? K : never }[keyof P];

/** The object type of a set of fields: required ones present, the others optional. Flat, so that editors show it readably. */
export type ObjectOf<P extends Fields> = Flatten<
  { readonly [K in RequiredKeys<P>]: Infer<P[K]> } & { readonly [K in Exclude<keyof P, RequiredKeys<P>>]?: Infer<P[K]> }
>;

type Flatten<T> = { [K in keyof T]: T[K] };

/** Schema keywords every builder accepts beside its own. `description` is mandatory: `kubectl explain` shows it. */
interface Common {
  readonly description: string;
  readonly default?: unknown;
  readonly rules?: readonly ValidationRule[];
  /** True stores an explicit `null`; without it a create drops the null and a server-side apply refuses it. */
  readonly nullable?: true;
}

interface StringKeywords extends Common {
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: "date-time";
}

interface NumberKeywords extends Common {
  readonly format?: "int32" | "int64";
  readonly minimum?: number;
  readonly maximum?: number;
}

interface ListKeywords extends Common {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly listType?: "atomic" | "set" | "map";
  readonly listMapKeys?: readonly string[];
}

interface ObjectKeywords extends Common {
  readonly mapType?: "atomic";
  /** The object must satisfy one of these beside its own fields. */
  readonly anyOf?: readonly JsonSchema[];
}

/** Any string within the given keywords. */
export function string(keywords: StringKeywords): Field<string, false> {
  return optional({ type: "string", ...wire(keywords) });
}

/**
 * A string of a language that nobody reads in a regular expression: what is refused hears `message`, with an example in it.
 *
 * @param keywords with a length, for servers estimate by it what the rule may cost
 */
export function textLike(
  pattern: string,
  message: string,
  keywords: StringKeywords & { readonly maxLength: number },
): Field<string, false> {
  const rule = { rule: `self.matches(${JSON.stringify(pattern)})`, message };
  return string({ ...keywords, rules: [rule, ...(keywords.rules ?? [])] });
}

/** One of a closed set of strings. The static type is the union of `values`. */
export function oneOf<const V extends readonly [string, ...string[]]>(values: V, keywords: Common): Field<V[number], false> {
  return optional({ type: "string", ...wire(keywords), enum: values });
}

/** A whole number. Without `format` the server reads it as int64. */
export function integer(keywords: NumberKeywords): Field<number, false> {
  return optional({ type: "integer", ...wire(keywords) });
}

/** True or false. */
export function boolean(keywords: Common): Field<boolean, false> {
  return optional({ type: "boolean", ...wire(keywords) });
}

/** A count such as `1` or a share such as `"25%"`; any string passes the schema. */
export function intOrString(keywords: Common): Field<number | string, false> {
  return optional({ ...wire(keywords), anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true });
}

/** A quantity as Kubernetes writes it: `4`, `"512Mi"`, `"1.5"`. */
export function quantity(keywords: Common): Field<number | string, false> {
  const field = intOrString(keywords);
  return { ...field, schema: { ...field.schema, pattern: QUANTITY_PATTERN } };
}

/** Texts by key. Keys are stored as written. */
export function stringMap(keywords: Common): Field<Readonly<Record<string, string>>, false> {
  return optional({ type: "object", ...wire(keywords), additionalProperties: { type: "string" } });
}

/**
 * A value that is either a list of `item` or an object like `form`: one node that names no type, with the fields of both.
 *
 * Servers check, default and compare each form as if it stood alone. What is neither is refused by keywords that no text, number or
 * truth value satisfies. CEL rules of the schema cannot see the value.
 */
export function listOrObject<T, O>(item: Field<T>, form: Field<O>, keywords: Common): Field<readonly T[] | O, false> {
  const { properties, required: names } = form.schema;
  return optional({
    ...wire(keywords),
    "x-kubernetes-preserve-unknown-fields": true,
    ...(names && { required: names }),
    ...(properties && { properties }),
    items: item.schema,
    ...NEITHER_TEXT_NOR_NUMBER,
    not: { enum: [true, false] },
  });
}

/** Keywords that speak of texts and numbers only, and that none of them satisfies. */
const NEITHER_TEXT_NOR_NUMBER = { minLength: 1, maxLength: 0, minimum: 1, maximum: 0 } as const;

/** Pattern of a quantity, as `resource.Quantity` has it in published schemas. */
const QUANTITY_PATTERN =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** An object of free form whose keys are stored as written: a machine config patch, a registries section. */
export function rawObject(keywords: Common): Field<Readonly<Record<string, unknown>>, false> {
  return optional({ type: "object", ...wire(keywords), "x-kubernetes-preserve-unknown-fields": true });
}

/** A list whose items all follow one schema. */
export function list<T>(item: Field<T>, keywords: ListKeywords): Field<readonly T[], false> {
  const { listType, listMapKeys, ...rest } = keywords;
  return optional({
    type: "array",
    ...wire(rest),
    items: item.schema,
    ...(listType && { "x-kubernetes-list-type": listType }),
    ...(listMapKeys && { "x-kubernetes-list-map-keys": listMapKeys }),
  });
}

/** An object with the given fields; unknown ones are pruned by the server. */
export function object<P extends Fields>(fields: P, keywords: ObjectKeywords): Field<ObjectOf<P>, false> {
  const { mapType, ...rest } = keywords;
  const names = Object.keys(fields);
  const requiredNames = names.filter((name) => fields[name]?.isRequired);
  return optional({
    type: "object",
    ...wire(rest),
    ...(requiredNames.length > 0 && { required: requiredNames.toSorted() }),
    properties: Object.fromEntries(names.map((name) => [name, fields[name]?.schema ?? {}])),
    ...(mapType && { "x-kubernetes-map-type": mapType }),
  });
}

/** The same field, demanded by its parent. */
export function required<T>(field: Field<T>): Field<T, true> {
  return { schema: field.schema, isRequired: true };
}

/** The same field with other words: where one structure stands in two places with two meanings. */
export function described<T, R extends boolean>(field: Field<T, R>, description: string): Field<T, R> {
  return { ...field, schema: { ...field.schema, description } };
}

function optional<T>(schema: JsonSchema): Field<T, false> {
  return { schema, isRequired: false };
}

function wire<K extends Common>({ rules, ...rest }: K): Omit<K, "rules"> & JsonSchema {
  return { ...rest, ...(rules && { "x-kubernetes-validations": rules }) } as Omit<K, "rules"> & JsonSchema;
}
