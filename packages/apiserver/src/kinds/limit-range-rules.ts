import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import { problemsOfQualifiedName } from "../request/qualified-name.ts";
import type { FieldError } from "../schema/index.ts";
import { amountsIn, quantityOf } from "./amounts.ts";
import type { Amounts } from "./amounts.ts";
import { each, fill, inside } from "./defaults/fill.ts";
import { isExtendedName, validateContainerResourceName, validateResourceName } from "./resource-names.ts";
import { duplicate, forbiddenValue, invalidValue, required } from "./rule-errors.ts";

/** Fills in what a LimitRange may leave out: the default is the maximum, and what is asked for by default is the default, else the minimum. */
export function defaultLimitRange(range: JsonObject): JsonObject {
  return inside(range, "spec", (spec) =>
    each(spec, "limits", (item) => {
      if (item["type"] !== "Container") return item;
      const limit = fill(objectAt(item, "default"), objectAt(item, "max"));
      const request = fill(fill(objectAt(item, "defaultRequest"), limit), objectAt(item, "min"));
      const given = (amounts: JsonObject, field: string): JsonObject => (Object.keys(amounts).length === 0 ? {} : { [field]: amounts });
      return { ...item, ...given(limit, "default"), ...given(request, "defaultRequest") };
    }),
  );
}

/** What a LimitRange may not say. */
export function validateLimitRange(range: JsonObject): readonly FieldError[] {
  const types = new Set<string>();
  return objectsAt(objectAt(range, "spec"), "limits").flatMap((item, index) => {
    const at = `spec.limits[${index}]`;
    const type = stringAt(item, "type") ?? "";
    const errors: FieldError[] = [...validateType(type, `${at}.type`)];
    if (types.has(type)) errors.push(duplicate(`${at}.type`, type));
    types.add(type);
    return [...errors, ...validateItem(item, type, at)];
  });
}

function validateType(type: string, at: string): readonly FieldError[] {
  const problems = problemsOfQualifiedName(type);
  if (problems.length > 0) return problems.map((why) => invalidValue(at, type, why));
  return type.includes("/") || ["Pod", "Container", "PersistentVolumeClaim"].includes(type)
    ? []
    : [invalidValue(at, type, "must be a standard limit type or fully qualified")];
}

function validateItem(item: JsonObject, type: string, at: string): readonly FieldError[] {
  const amounts = (field: string): Amounts => amountsIn(objectAt(item, field));
  const errors: FieldError[] = [];
  const isOfPods = type === "Pod" || type === "Container";
  const fields = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];
  for (const field of fields) {
    const given = Object.keys(amounts(field));
    if (type === "Pod" && field.startsWith("default")) {
      if (given.length > 0) errors.push(forbiddenValue(`${at}.${field}`, "may not be specified when `type` is 'Pod'"));
      continue;
    }
    for (const name of given)
      errors.push(...(isOfPods ? validateContainerResourceName : validateResourceName)(name, `${at}.${field}[${name}]`));
  }
  if (type === "PersistentVolumeClaim" && amounts("min")["storage"] === undefined && amounts("max")["storage"] === undefined)
    errors.push(required(`${at}.limits`, "either minimum or maximum storage value is required, but neither was provided"));
  const names = new Set(
    fields.filter((field) => type !== "Pod" || !field.startsWith("default")).flatMap((field) => Object.keys(amounts(field))),
  );
  for (const name of [...names].sort()) {
    const of = (field: string): string | undefined => (type === "Pod" && field.startsWith("default") ? undefined : amounts(field)[name]);
    errors.push(...validateOrder(of, name, at), ...validateRatio(of, name, at));
  }
  return errors;
}

type Bounds = (field: string) => string | undefined;

/** Least, asked for, given and most come in this order. */
function validateOrder(of: Bounds, name: string, at: string): readonly FieldError[] {
  const words: Readonly<Record<string, string>> = { min: "min", max: "max", default: "default", defaultRequest: "default request" };
  const pairs: readonly (readonly [small: string, large: string, field: string, shown: string, largeWords?: string])[] = [
    ["min", "max", "min", "min"],
    ["min", "defaultRequest", "defaultRequest", "defaultRequest"],
    ["defaultRequest", "max", "defaultRequest", "defaultRequest"],
    ["defaultRequest", "default", "defaultRequest", "defaultRequest", "default limit"],
    ["min", "default", "default", "min"],
    ["default", "max", "default", "max"],
  ];
  const errors = pairs.flatMap(([small, large, field, shown, largeWords]) => {
    const [less, more] = [of(small), of(large)];
    if (less === undefined || more === undefined || quantityOf(less).compareTo(quantityOf(more)) <= 0) return [];
    const why = `${words[small]} value ${less} is greater than ${largeWords ?? words[large]} value ${more}`;
    return [invalidValue(`${at}.${field}[${name}]`, of(shown), why)];
  });
  const [given, asked] = [of("default"), of("defaultRequest")];
  const isFixed = isExtendedName(name) || name.startsWith("hugepages-");
  if (isFixed && given !== undefined && asked !== undefined && quantityOf(given).compareTo(quantityOf(asked)) !== 0) {
    const why = `default value ${given} must equal to defaultRequest value ${asked} in ${name}`;
    errors.push(invalidValue(`${at}.defaultRequest[${name}]`, asked, why));
  }
  return errors;
}

function validateRatio(of: Bounds, name: string, at: string): readonly FieldError[] {
  const ratio = of("maxLimitRequestRatio");
  if (ratio === undefined) return [];
  const here = `${at}.maxLimitRequestRatio[${name}]`;
  const value = quantityOf(ratio).toNumber();
  const errors = value < 1 ? [invalidValue(here, ratio, `ratio ${ratio} is less than 1`)] : [];
  const [min, max] = [of("min"), of("max")];
  if (min === undefined || max === undefined) return errors;
  const most = quantityOf(max).toNumber() / quantityOf(min).toNumber();
  return value > most ? [...errors, invalidValue(here, ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`)] : errors;
}
