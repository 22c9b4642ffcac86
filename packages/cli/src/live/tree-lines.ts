import type { TreeNode, TreeNote } from "@talos-operator/operator";

/** One line of a tree, before it is known how wide the terminal is. */
export type TreeLine =
  | { readonly kind: "object"; readonly prefix: string; readonly node: TreeNode }
  /** Machines that are like `node`, counted instead of shown; `isAll` when none like them is shown. */
  | { readonly kind: "more"; readonly prefix: string; readonly count: number; readonly isAll: boolean; readonly node: TreeNode }
  | { readonly kind: "note"; readonly prefix: string; readonly note: TreeNote };

/** The characters that a tree is drawn with. */
export interface Branches {
  readonly fork: string;
  readonly last: string;
  readonly through: string;
  readonly none: string;
}

export const unicodeBranches: Branches = { fork: "├─", last: "└─", through: "│ ", none: "  " };
export const asciiBranches: Branches = { fork: "|-", last: "`-", through: "| ", none: "  " };

export interface TreeLineOptions {
  readonly branches: Branches;
  /** Machines of one pool that are alike are shown up to this many, and the others counted. */
  readonly most: number;
}

/** A tree as lines: each object with what it consists of below it, conditions of clusters and pools before that. Pure. */
export function treeLines(tree: TreeNode, { branches, most }: TreeLineOptions): readonly TreeLine[] {
  const lines: TreeLine[] = [];
  const add = (node: TreeNode, prefix: string, below: string): void => {
    lines.push({ kind: "object", prefix, node });
    const items = collapsed(node.children, most);
    const beside = `${below}${items.length === 0 ? branches.none : branches.through}`;
    for (const note of notesBelow(node)) lines.push({ kind: "note", prefix: beside, note });
    for (const [index, item] of items.entries()) {
      const isLast = index === items.length - 1;
      const own = `${below}${isLast ? branches.last : branches.fork}`;
      if (item.count > 1) lines.push({ kind: "more", prefix: own, count: item.count, isAll: most === 0, node: item.node });
      else add(item.node, own, `${below}${isLast ? branches.none : branches.through}`);
    }
  };
  add(tree, "", "");
  return lines;
}

/** What a machine waits for stands in its own line; anything beyond it, and all that clusters and pools say, below. */
function notesBelow(node: TreeNode): readonly TreeNote[] {
  return isMachine(node) ? node.notes.slice(1) : node.notes;
}

export function isMachine({ kind }: TreeNode): boolean {
  return kind === "TalosMachine";
}

/** Alike but for their names: the same state, version and words. */
function likeness({ kind, name, address, node, ready, state, talos, notes }: TreeNode): string {
  const own = [name, address, node].flatMap((word) => (word === undefined || word === "" ? [] : [word]));
  const words = notes.map(({ type, status, message }) => {
    const without = own.reduce((text, word) => text.replaceAll(word, "*"), message);
    return `${type}=${status} ${without}`;
  });
  return JSON.stringify([kind, ready, state, talos, words]);
}

/** Machines beyond `most` that are alike as one item, after the last that is shown. */
function collapsed(nodes: readonly TreeNode[], most: number): readonly { readonly node: TreeNode; readonly count: number }[] {
  const groups = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const key = isMachine(node) ? likeness(node) : `${node.kind}/${node.name}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node]);
    else group.push(node);
  }
  const shown = new Set<TreeNode>();
  const more: { readonly node: TreeNode; readonly count: number }[] = [];
  for (const group of groups.values()) {
    const [first] = group;
    // Counting a single one takes the line that it would have itself.
    const kept = group.length <= most + 1 ? group.length : most;
    for (const node of group.slice(0, kept)) shown.add(node);
    if (first !== undefined && kept < group.length) more.push({ node: first, count: group.length - kept });
  }
  return [...nodes.filter((node) => shown.has(node)).map((node) => ({ node, count: 1 })), ...more];
}
