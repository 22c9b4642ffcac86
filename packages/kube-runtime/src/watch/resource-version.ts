const zero = 48;
const nine = 57;

/**
 * Orders two resourceVersions of one kind: negative when `a` is older, 0 when equal, positive when newer; `undefined` when they cannot
 * be ordered (not decimal, and different).
 *
 * Kubernetes promises that they are decimal numbers that only grow; they do not fit a JavaScript number, hence the comparison of texts.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!isDecimal(a) || !isDecimal(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

function isDecimal(text: string): boolean {
  // By hand: two versions are compared with every event, and an expression takes ten times as long.
  for (let at = 0; at < text.length; at += 1) if (!isDigit(text.charCodeAt(at))) return false;
  return text.length === 1 || (text.length > 1 && text.charCodeAt(0) !== zero);
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}
