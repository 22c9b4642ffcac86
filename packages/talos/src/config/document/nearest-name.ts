/** The one of these names that somebody may have meant who wrote another one; `undefined` = none is near enough, or two are as near. */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  const far = Math.min(2, Math.floor(written.length / 3));
  const near = [...names]
    .map((name) => ({ name, away: name.toLowerCase() === written.toLowerCase() ? 0 : distance(written, name) }))
    .filter(({ away }) => away <= far)
    .toSorted((a, b) => a.away - b.away);
  const [first, second] = near;
  return first === undefined || first.away === second?.away ? undefined : first.name;
}

/** Letters that are to be put in, taken out or replaced (Levenshtein). */
function distance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (before[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      now.push(Math.min(replaced, (before[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1));
    }
    before = now;
  }
  return before[b.length] ?? 0;
}
