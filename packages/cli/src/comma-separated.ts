/**
 * The items of one line of comma-separated values, as talosctl reads its list flags: an item in double quotes may hold commas, a doubled quote
 * inside it is one quote. `undefined` when the quotes do not fit. An empty text has no items.
 */
export function commaSeparated(text: string): readonly string[] | undefined {
  if (text === "") return [];
  const items: string[] = [];
  let rest = text;
  for (;;) {
    const match = /^(?:"((?:[^"]|"")*)"|([^",]*))(?:,|$)/.exec(rest);
    if (match === null) return undefined;
    items.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    const isLast = !match[0].endsWith(",");
    rest = rest.slice(match[0].length);
    if (isLast) return items;
  }
}
