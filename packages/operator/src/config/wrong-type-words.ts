import type { ConfigError } from "@talos-operator/talos";

/** What was written, by the tag that the machinery calls it by. */
const GIVEN: Readonly<Record<string, string>> = {
  seq: "a list",
  map: "a map",
  str: "text",
  int: "a number",
  float: "a number",
  bool: "true or false",
  timestamp: "a date",
  null: "empty",
};

/** A value of another type than the field's, in the words of YAML and not of the machinery; `undefined` = it is no such error, or more is to be said. */
export function wrongTypeWords({ code, detail, path = "" }: ConfigError): string | undefined {
  const [, tag = "", wanted = ""] = /cannot construct !!(\w+)(?: `[^`]*`)? into (\S+)/.exec(detail) ?? [];
  const given = GIVEN[tag];
  if (code !== "WRONG_TYPE" || path === "" || given === undefined) return undefined;
  const asked = askedFor(wanted, tag);
  if (asked !== undefined) return asked === given ? undefined : `${path} must be ${asked}, not ${given}`;
  return tag === "seq" ? `${path} must not be ${given}` : undefined;
}

/** By the name that Go has for the type. */
function askedFor(wanted: string, tag: string): string | undefined {
  if (wanted.startsWith("map[")) return "a map (key: value)";
  if (wanted.startsWith("[]")) return "a list";
  if (wanted === "string") return "text";
  if (wanted === "bool") return "true or false";
  if (/^u?int\d*$/.test(wanted)) return "a whole number";
  if (wanted === "time.Duration") return "a duration such as 10s";
  // Structs take a map, and what is read from a text takes none.
  if (tag === "map") return "text";
  return tag === "seq" ? undefined : "a map of fields";
}
