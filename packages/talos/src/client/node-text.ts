/** Calls whose error text may quote the machine config that was sent. */
const QUOTES_CONFIG = new Set(["/machine.MachineService/ApplyConfiguration"]);

/**
 * What a machine said, fit for messages, logs and conditions.
 *
 * A refused machine config is answered with parts of it: unknown keys with their values, or a diff with tokens and keys.
 * Of such a text the first line stays, then list items, line numbers and bare keys; values and diffs go.
 *
 * @see talos `internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go` for the texts
 */
export function describeNodeText(method: string, text: string): string {
  const trimmed = text.trim();
  if (!QUOTES_CONFIG.has(method)) return trimmed;
  const [first = "", ...rest] = trimmed.split("\n");
  const kept: string[] = [withoutQuotes(first)];
  for (const line of rest) {
    if (/^\s*diff:\s*$/.test(line)) {
      kept.push("(diff left out)");
      break;
    }
    const key = /^(\s*(?:- )?[\w.-]+:)(\s+\S.*)?$/.exec(line);
    if (/^\s*\* /.test(line) || /^\s*line \d+: /.test(line)) kept.push(withoutQuotes(line));
    else if (key !== null) kept.push(key[2] === undefined ? line : `${key[1]} (value left out)`);
    else if (line.trim() !== "") kept.push("(left out)");
  }
  return kept.join("\n").trim();
}

/** Go's YAML decoder quotes the offending scalar in backticks. */
function withoutQuotes(line: string): string {
  return line.replaceAll(/`[^`]*`/g, "`...`");
}
