import type { Environment, Optional } from "@marcbachmann/cel-js";

/** An entry that is there only when its optional has a value. */
class OptionalEntry {
  readonly optional: Optional;
  constructor(optional: Optional) {
    this.optional = optional;
  }
}

/** Functions that `withOptionalEntries` puts into expressions. */
export const entryFunctions: ReadonlySet<string> = new Set(["optionalEntry", "presentItems", "presentEntries"]);

/** Adds what `withOptionalEntries` needs. */
export function registerOptionalEntries(environment: Environment): void {
  environment.registerType("OptionalEntry", { ctor: OptionalEntry, fields: {} });
  environment.registerFunction("optionalEntry(optional<dyn>): dyn", (optional: Optional) => new OptionalEntry(optional));
  environment.registerFunction("presentItems(list): list<dyn>", (items: readonly unknown[]) => items.flatMap((item) => present(item)));
  environment.registerFunction("presentEntries(map): map<dyn, dyn>", (map: Map<unknown, unknown> | Record<string, unknown>) => {
    const found = new Map<unknown, unknown>();
    for (const [key, item] of map instanceof Map ? map : Object.entries(map)) for (const value of present(item)) found.set(key, value);
    return found;
  });
}

function present(item: unknown): readonly unknown[] {
  if (!(item instanceof OptionalEntry)) return [item];
  return item.optional.hasValue() ? [item.optional.value()] : [];
}

interface Frame {
  readonly isLiteral: boolean;
  readonly closer: string;
  /** Where in the output the bracket stands. */
  readonly at: number;
  hasOptional: boolean;
  /** What the entry under way still needs: the colon of a map, the bracket at its end. */
  entry: "plain" | "before colon" | "open";
}

const texts =
  /[rRbB]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$))|[rR][bB]?(?:"[^"]*(?:"|$)|'[^']*(?:'|$))|[bB]?(?:"(?:\\.|[^"\\])*(?:"|\\?$)|'(?:\\.|[^'\\])*(?:'|\\?$))/uy;

const words = /[\w.]+|\s+|./suy;

/**
 * Writes list and map literals with optional entries (`[?a]`, `{?k: v}`), which the engine does not read, as calls that it reads.
 * Anything else comes back as it was.
 */
export function withOptionalEntries(expression: string): string {
  if (!/[[{,]\s*\?/u.test(expression)) return expression;
  const out: string[] = [];
  const frames: Frame[] = [];
  /** Whether what came last can be indexed. */
  let isOperand = false;
  let startsEntry = false;
  for (let at = 0; at < expression.length;) {
    texts.lastIndex = at;
    const text = texts.exec(expression)?.[0];
    words.lastIndex = at;
    const piece = text ?? words.exec(expression)?.[0] ?? "";
    at += piece.length;
    if (piece.trim() === "") {
      out.push(piece);
      continue;
    }
    const frame = frames.at(-1);
    const begins = startsEntry;
    startsEntry = false;
    if (text === undefined && piece === "?" && begins && frame !== undefined) {
      frame.hasOptional = true;
      frame.entry = frame.closer === "}" ? "before colon" : "open";
      if (frame.entry === "open") out.push("optionalEntry(");
    } else if (text === undefined && "([{".includes(piece)) {
      const isLiteral = piece === "{" || (piece === "[" && !isOperand);
      frames.push({ isLiteral, closer: closers[piece] ?? "", at: out.length, hasOptional: false, entry: "plain" });
      out.push(piece);
      startsEntry = isLiteral;
    } else if (text === undefined && frame !== undefined && piece === ":" && frame.entry === "before colon") {
      out.push(":", "optionalEntry(");
      frame.entry = "open";
    } else if (text === undefined && frame !== undefined && (piece === "," || piece === frame.closer)) {
      if (frame.entry === "open") out.push(")");
      frame.entry = "plain";
      out.push(piece);
      startsEntry = piece === "," && frame.isLiteral;
      if (piece === frame.closer) {
        frames.pop();
        if (frame.hasOptional) {
          out[frame.at] = `${piece === "}" ? "presentEntries" : "presentItems"}(${out[frame.at] ?? ""}`;
          out.push(")");
        }
      }
    } else out.push(piece);
    isOperand = text !== undefined || /^[\w.]*\w$/u.test(piece) || piece === ")" || piece === "]" || piece === "}";
    if (piece === "in") isOperand = false;
  }
  return out.join("");
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
