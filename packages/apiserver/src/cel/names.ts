import { withOptionalEntries } from "./optional-entries.ts";

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(" "),
);

/**
 * Name under which a property is reachable in CEL, or `undefined` when it is not. Kubernetes escapes `.`, `-`, `/`, double underscores
 * and reserved words.
 */
export function escapeField(name: string): string | undefined {
  if (plain.test(name) && !name.includes("__")) return reserved.has(name) ? `__${name}__` : name;
  if (!/^[A-Za-z_.\-/$][A-Za-z0-9_.\-/]*$/u.test(name) || /^\d/u.test(name)) return undefined;
  return name.replaceAll("__", "__underscores__").replaceAll(".", "__dot__").replaceAll("-", "__dash__").replaceAll("/", "__slash__");
}

const plain = /^[A-Za-z_][A-Za-z0-9_]*$/u;

/** Turns an expression into what the engine parses, and tells whether it mentions `oldSelf`. String literals stay untouched. */
export function prepareExpression(expression: string): { readonly text: string; readonly usesOldSelf: boolean } {
  let usesOldSelf = false;
  const text = withOptionalEntries(expression).replaceAll(
    /[rRbB]{0,2}"""[\s\S]*?(?:"""|$)|[rRbB]{0,2}'''[\s\S]*?(?:'''|$)|[rR][bB]?"[^"]*(?:"|$)|[rR][bB]?'[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|\\?$)|'(?:\\.|[^'\\])*(?:'|\\?$)|(\.\s*)?\b(has|oldSelf|value|bind)\b(\s*\()?/gu,
    (whole: string, dot: string | undefined, word: string | undefined, call: string | undefined) => {
      if (word === "oldSelf" && dot === undefined) usesOldSelf = true;
      if (word === "has" && dot === undefined && call !== undefined) return `hasField${call}`;
      // Kubernetes has no `cel.bind()`; the engine would take it for a macro on whatever stands before it.
      if (word === "bind" && dot !== undefined && call !== undefined) return `${dot}undeclared_bind${call}`;
      // The engine cannot resolve operators on what its own generic value() returns.
      if (word === "value" && dot !== undefined && call !== undefined) return `${dot}optionalValue${call}`;
      return whole;
    },
  );
  return { text, usesOldSelf };
}
