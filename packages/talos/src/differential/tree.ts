/**
 * YAML as it is going to be written. Scalars are tokens, quotes included, so that a generator decides about spelling; `block` holds the lines of
 * a literal block.
 */
export type Tree =
  | { readonly type: "scalar"; readonly token: string }
  | { readonly type: "block"; readonly lines: readonly string[] }
  | { readonly type: "list"; readonly isFlow: boolean; readonly items: readonly Tree[] }
  | { readonly type: "map"; readonly isFlow: boolean; readonly entries: readonly (readonly [key: string, value: Tree])[] };

/** The text of a document. Keys are tokens too. */
export function writeTree(tree: Tree, indentation: number): string {
  return `${writeBlock(tree, 0, indentation).replace(/^\n/, "")}\n`;
}

/** Begins with a new line where the value cannot stand behind its key. */
function writeBlock(tree: Tree, depth: number, indentation: number): string {
  const pad = " ".repeat(depth * indentation);
  switch (tree.type) {
    case "scalar":
      return tree.token;
    case "block":
      return `|\n${tree.lines.map((line) => `${pad}${line}`).join("\n")}`;
    case "list":
      if (tree.isFlow || tree.items.length === 0) return writeFlow(tree);
      return tree.items
        .map((item) => {
          const isNested = item.type !== "scalar" && !(item.type !== "block" && (item.isFlow || isEmpty(item)));
          const text = writeBlock(item, depth + 1, indentation);
          return `\n${pad}-${isNested && item.type !== "block" ? text : ` ${text}`}`;
        })
        .join("");
    case "map":
      if (tree.isFlow || tree.entries.length === 0) return writeFlow(tree);
      return tree.entries
        .map(([key, value]) => {
          const text = writeBlock(value, depth + 1, indentation);
          return `\n${pad}${key}:${text.startsWith("\n") || text === "" ? text : ` ${text}`}`;
        })
        .join("");
  }
}

function isEmpty(tree: Tree): boolean {
  return (tree.type === "list" && tree.items.length === 0) || (tree.type === "map" && tree.entries.length === 0);
}

function writeFlow(tree: Tree): string {
  switch (tree.type) {
    case "scalar":
      return tree.token;
    case "block":
      return JSON.stringify(`${tree.lines.join("\n")}\n`);
    case "list":
      return `[${tree.items.map(writeFlow).join(", ")}]`;
    case "map":
      return `{${tree.entries.map(([key, value]) => `${key}: ${writeFlow(value)}`).join(", ")}}`;
  }
}
