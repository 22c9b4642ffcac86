/**
 * The entries of `configPatches` as texts for the patcher, in their order. An entry that is an RFC 6902 operation, `{op, path, ...}`, is applied as such;
 * operations that follow each other are one patch, so that it takes effect as a whole or not at all. All other entries are strategic merge patches.
 *
 * Talos takes RFC 6902 only on configs of one document, which are those of Talos up to 1.11; the patcher refuses them on others.
 */
export function patchTexts(entries: readonly unknown[]): readonly string[] {
  const texts: string[] = [];
  let operations: unknown[] = [];
  const flush = (): void => {
    if (operations.length > 0) texts.push(JSON.stringify(operations));
    operations = [];
  };
  for (const entry of entries) {
    if (isOperation(entry)) {
      operations.push(entry);
      continue;
    }
    flush();
    texts.push(JSON.stringify(entry));
  }
  flush();
  return texts;
}

/** No document of a machine config has a key `op`. */
function isOperation(entry: unknown): boolean {
  return typeof entry === "object" && entry !== null && "op" in entry && "path" in entry;
}
