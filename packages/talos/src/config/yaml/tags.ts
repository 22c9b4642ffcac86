import { kindOfPlain, type ScalarKind } from "./resolve.ts";

/**
 * Kind of a scalar that says its type by a tag, such as `!!str 5`; `undefined` when the tag is none that says so or the text is no such value.
 *
 * Only the tags of JSON's types are known. Others make something else of a text (`!!binary`), or mean something to one reader only.
 */
export function kindOfTagged(tag: string, text: string): ScalarKind | undefined {
  const plain = kindOfPlain(text);
  switch (shortTag(tag)) {
    case "!!str":
      return "str";
    case "!!int":
      return plain === "int" ? "int" : undefined;
    case "!!float":
      return plain === "int" || plain === "float" ? "float" : undefined;
    case "!!bool":
      return plain === "bool" ? "bool" : undefined;
    case "!!null":
      return plain === "null" ? "null" : undefined;
    default:
      return undefined;
  }
}

/** Whether a collection may carry the tag: that of its own type. */
export function isTagOf(tag: string, type: "mapping" | "sequence"): boolean {
  return shortTag(tag) === (type === "mapping" ? "!!map" : "!!seq");
}

function shortTag(tag: string): string {
  return tag.replace(/^!<tag:yaml\.org,2002:(.*)>$/, "!!$1");
}
