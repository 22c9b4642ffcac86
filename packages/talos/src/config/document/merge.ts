import { ConfigError } from "../errors.ts";
import type { ListType, StructType, Type } from "../schema/notation.ts";
import { isZero } from "./encode.ts";
import type { ConfigMap, ConfigValue } from "./value.ts";

/**
 * Two values of one type as one, `right` over `left`, by Talos's rules for patches: what the patch does not say stays, lists are appended,
 * maps and structs merge member by member, zero values say nothing unless the field may be absent. Neither argument is changed.
 *
 * @throws ConfigError `PATCH_MERGE` when free-form parts differ in shape
 */
export function merge(
  type: Type,
  left: ConfigValue | undefined,
  right: ConfigValue | undefined,
  mode: MergeMode = {},
): ConfigValue | undefined {
  switch (type.kind) {
    case "pointer":
      if (right === undefined || right === null) return left;
      return left === undefined || left === null ? right : merge(type.to, left, right, { ...mode, zeroCounts: true });
    case "struct":
      if (mode.replaces === true) return isZero(type, right) ? left : right;
      // A certificate and its key are read in one go: what a patch leaves out of them is empty, not unsaid.
      if (type.name.startsWith("x509.")) return right ?? left;
      return mergeStructs(type, left, right);
    case "list":
      return mergeLists(type, left as ConfigValue[] | undefined, right as ConfigValue[] | undefined, mode);
    case "map":
      if (right === undefined || right === null || mode.replaces === true || left === undefined || left === null) return right ?? left;
      return mergeMaps(left as ConfigMap, right as ConfigMap, (a, b) => mergeMember(type, a, b));
    case "any":
      if (right === undefined || right === null) return left;
      // An empty mapping says nothing, also where a patch replaces.
      if (type.isMapping && left instanceof Map && right instanceof Map && right.size === 0) return left;
      return left === undefined || left === null || mode.replaces === true ? right : mergeAny(left, right);
    case "bool":
      return right ?? false;
    case "argument":
      return isZero(type, right) ? left : right;
    case "codec":
      if (type.codec.isErasedByAbsence === true) return right;
      if (isZero(type, right) && (mode.zeroCounts !== true || right === undefined)) return left;
      if (type.codec.isNeverMerged === true && left !== undefined)
        throw new ConfigError("PATCH_MERGE", `merge not possible, left ${left as string} is not settable`);
      return left === undefined || type.codec.merge === undefined ? right : type.codec.merge(left as string, right as string);
    case "string":
    case "int":
    case "uint":
      return isZero(type, right) && mode.zeroCounts !== true ? left : (right ?? left);
  }
}

export interface MergeMode {
  /** The field is replaced as a whole. */
  readonly replaces?: boolean;
  /** Behind a pointer a zero value is a value. */
  readonly zeroCounts?: boolean;
}

function mergeStructs(type: StructType, left: ConfigValue | undefined, right: ConfigValue | undefined): ConfigMap {
  const a = left instanceof Map ? left : new Map<string, ConfigValue>();
  const b = right instanceof Map ? right : new Map<string, ConfigValue>();
  const out: ConfigMap = new Map();
  for (const field of type.fields) {
    const value = merge(field.type, a.get(field.name), b.get(field.name), { replaces: field.isReplaced });
    if (value !== undefined) out.set(field.name, value);
  }
  return out;
}

function mergeMember(type: Extract<Type, { kind: "map" }>, left: ConfigValue, right: ConfigValue): ConfigValue {
  // Arguments of components are replaced key by key, never appended.
  if (type.name === "v1alpha1.Args") return right;
  return merge(type.value, left, right) ?? right;
}

function mergeMaps(left: ConfigMap, right: ConfigMap, each: (a: ConfigValue, b: ConfigValue) => ConfigValue): ConfigMap {
  const out = new Map(left);
  for (const [key, value] of right) {
    const there = left.get(key);
    out.set(key, there === undefined || there === null ? value : each(there, value));
  }
  return out;
}

/** Lists whose items have an identity merge item by item; the others are appended. */
function mergeLists(
  type: ListType,
  left: ConfigValue[] | undefined,
  right: ConfigValue[] | undefined,
  mode: MergeMode,
): ConfigValue[] | undefined {
  if (right === undefined || right === null) return left;
  const same = identities.get(type.name);
  if (same !== undefined) return mergeByIdentity(type, left ?? [], right, same);
  if (mode.replaces === true) return right;
  return [...(left ?? []), ...right];
}

type SameItem = (left: ConfigMap, right: ConfigMap) => boolean;

const identities: ReadonlyMap<string, { readonly isSame: SameItem; readonly replaces: boolean }> = new Map([
  ["v1alpha1.NetworkDeviceList", { isSame: isSameInterface, replaces: false }],
  ["v1alpha1.VlanList", { isSame: equalIn("vlanId", 0n), replaces: false }],
  ["v1alpha1.AdmissionPluginConfigList", { isSame: equalIn("name", ""), replaces: false }],
  ["extensions.ConfigFileList", { isSame: equalIn("mountPath", ""), replaces: false }],
  ["security.ImageVerificationRules", { isSame: equalIn("image", ""), replaces: true }],
]);

function mergeByIdentity(
  type: ListType,
  left: readonly ConfigValue[],
  right: readonly ConfigValue[],
  { isSame, replaces }: { isSame: SameItem; replaces: boolean },
): ConfigValue[] {
  const out = [...left];
  for (const item of right) {
    const index = out.findIndex((there) => there instanceof Map && item instanceof Map && isSame(there, item));
    if (index < 0) out.push(item);
    else out[index] = replaces ? item : (merge(type.item, out[index], item) as ConfigValue);
  }
  return out;
}

function equalIn(field: string, zero: ConfigValue): SameItem {
  return (left, right) => (left.get(field) ?? zero) === (right.get(field) ?? zero);
}

function isSameInterface(left: ConfigMap, right: ConfigMap): boolean {
  const name = right.get("interface");
  if (name !== undefined && name !== "") return left.get("interface") === name;
  const selector = right.get("deviceSelector");
  const other = left.get("deviceSelector");
  return selector instanceof Map && other instanceof Map && isSameSelector(selector, other);
}

/** Talos compares selectors as values: a selector with a pointer in it (`physical`) equals no other. */
function isSameSelector(a: ConfigMap, b: ConfigMap): boolean {
  if (a.has("physical") || b.has("physical")) return false;
  const keys = new Set([...a.keys(), ...b.keys()]);
  return [...keys].every((key) => (a.get(key) ?? "") === (b.get(key) ?? ""));
}

function mergeAny(left: ConfigValue, right: ConfigValue): ConfigValue {
  if (left instanceof Map && right instanceof Map) return mergeMaps(left, right, mergeAny);
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  const [from, to] = [shapeOf(left), shapeOf(right)];
  if (from !== to) throw new ConfigError("PATCH_MERGE", `merge type mismatch left ${from} right ${to}`);
  if (typeof right === "boolean") return right;
  return right === "" || right === 0n || right === 0 || right === null ? left : right;
}

function shapeOf(value: ConfigValue): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (value instanceof Map) return "map[string]interface {}";
  const names: Readonly<Record<string, string>> = { string: "string", boolean: "bool", bigint: "int", number: "float64" };
  return names[typeof value] ?? "nil";
}
