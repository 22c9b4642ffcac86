import type { YamlValue } from "./emit.ts";
import { PlainScalar } from "./plain-scalar.ts";
import type { YamlNode } from "./node.ts";

/** A node as a value that prints the same: scalars that are not strings keep their text. */
export function plainValue(node: YamlNode): YamlValue {
  switch (node.type) {
    case "scalar":
      return node.kind === "str" ? node.text : new PlainScalar(node.text === "" ? "null" : node.text);
    case "sequence":
      return node.items.map(plainValue);
    case "mapping":
      return new Map(node.entries.map(({ key, value }) => [key, plainValue(value)]));
  }
}
