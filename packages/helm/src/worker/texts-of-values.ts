import { loadAll } from "js-yaml";
import { escapedForms } from "./escaped-forms.ts";

/** Shorter texts are words of any message, and no secrets worth the name. Characters. */
const SHORTEST = 6;

/**
 * Texts of values, longest first: a template or a schema may quote any of them in an error, and which of them come from a Secret is not known here. What is no YAML
 * has none; Helm does not quote it.
 */
export function textsOf(values: readonly string[], shortest = SHORTEST): readonly string[] {
  const texts = new Set<string>();
  // Aliases share objects; each is read once, however often it is named.
  const seen = new Set<object>();
  const collect = (value: unknown): void => {
    if (typeof value === "string" || typeof value === "number") {
      for (const text of formsOf(String(value))) if (text.length >= shortest) texts.add(text);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const one of Object.values(value)) collect(one);
    }
  };
  for (const text of values) collect(documentsOf(text));
  return [...texts].toSorted((a, b) => b.length - a.length);
}

/** As an error may quote it: whole, by its lines, and as Go escapes either. */
function formsOf(text: string): readonly string[] {
  const lines = text.includes("\n") ? text.split(/\r?\n/) : [];
  return [text, ...lines].flatMap(escapedForms);
}

function documentsOf(text: string): unknown {
  try {
    // As Helm reads it: a key that stands twice is no mistake.
    return loadAll(text, null, { json: true });
  } catch {
    // Helm says so itself.
    return undefined;
  }
}
