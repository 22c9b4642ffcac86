import { loadAll } from "js-yaml";

/** Shorter texts are words of any message, and no secrets worth the name. Characters. */
const SHORTEST = 6;

/**
 * Texts of values, longest first: a template or a schema may quote any of them in an error, and which of them come from a Secret is not known here. What is no YAML
 * has none; Helm does not quote it.
 */
export function textsOf(values: readonly string[]): readonly string[] {
  const texts = new Set<string>();
  // Aliases share objects; each is read once, however often it is named.
  const seen = new Set<object>();
  const collect = (value: unknown): void => {
    if (typeof value === "string" || typeof value === "number") {
      const text = String(value);
      if (text.length >= SHORTEST) texts.add(text);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const one of Object.values(value)) collect(one);
    }
  };
  for (const text of values) collect(documentsOf(text));
  return [...texts].toSorted((a, b) => b.length - a.length);
}

function documentsOf(text: string): unknown {
  try {
    return loadAll(text);
  } catch {
    // Helm says so itself.
    return undefined;
  }
}
