interface Level {
  /** Names seen so far in an object; absent in a list. */
  readonly names: Set<string> | undefined;
  /** The member or item that is being read, as a part of a path. */
  at: string;
  index: number;
}

/**
 * Paths of the members that stand more than once in one object, in order: `data.a`, `spec.containers[1].name`. JSON.parse keeps the last of
 * them and says nothing.
 *
 * @param text JSON that has been parsed before
 */
export function duplicateFields(text: string): readonly string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const top = levels.at(-1);
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = endOfString(text, at);
        if (isKey && top?.names !== undefined) {
          top.at = JSON.parse(text.slice(at, end)) as string;
          if (top.names.has(top.at)) found.push(pathOf(levels));
          top.names.add(top.at);
          isKey = false;
        }
        at = end - 1;
        break;
      }
      case 0x7b:
        levels.push({ names: new Set(), at: "", index: 0 });
        isKey = true;
        break;
      case 0x5b:
        levels.push({ names: undefined, at: "[0]", index: 0 });
        isKey = false;
        break;
      case 0x7d:
      case 0x5d:
        levels.pop();
        isKey = false;
        break;
      case 0x2c:
        if (top === undefined) break;
        isKey = top.names !== undefined;
        if (!isKey) top.at = `[${++top.index}]`;
        break;
      default:
    }
  }
  return found;
}

/** The position behind the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function pathOf(levels: readonly Level[]): string {
  return levels.reduce((path, { names, at }) => (names === undefined ? `${path}${at}` : path === "" ? at : `${path}.${at}`), "");
}
