/** One step of a pattern: escapes and classes are single atoms, and braces in them count nothing. */
const token =
  /\\Q(?<literal>(?:(?!\\E)[\s\S])*)(?:\\E)?|\\(?:[pPx]\{[^}]*\}?|[\s\S])|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]?|\{(?<least>\d+)(?<most>,\d*)?\}|[\s\S]/uy;

/**
 * How many instructions a pattern becomes, at most: repetitions are written out, so that a few letters become a million of them. Counted before
 * it is compiled, which would take as long as the answer is large. What is no pattern has some size, too.
 */
export function programSizeOf(pattern: string): number {
  /** Sizes of the open groups, the whole pattern first. */
  const groups = [2];
  let last = 0;
  const add = (size: number): void => {
    groups[groups.length - 1] = (groups.at(-1) ?? 0) + size;
  };
  token.lastIndex = 0;
  for (let found = token.exec(pattern); found !== null; found = token.exec(pattern)) {
    const [text] = found;
    const { literal, least, most } = found.groups ?? {};
    if (text === "(") {
      groups.push(2);
      last = 0;
    } else if (text === ")" && groups.length > 1) {
      last = groups.pop() ?? 0;
      add(last);
    } else if (least !== undefined) {
      const times = Math.max(Number(least), most === undefined || most === "," ? 0 : Number(most.slice(1)));
      // Those that may be left out are one instruction more each.
      const each = last + (most === undefined ? 0 : 1);
      add(each * times);
      last = each * (times + 1);
    } else {
      // An optional part, a repeated one or a branch is one instruction more.
      const isMark = "*+?|".includes(text);
      const size = literal === undefined ? 1 : literal.length;
      add(size);
      last = isMark ? last + 1 : literal === undefined ? size : 1;
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}
