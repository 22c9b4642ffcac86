import type { TreeNode } from "@talos-operator/operator";
import { isMachine } from "./tree-lines.ts";
import { oneLine } from "./text-width.ts";

/** Changes of one look that are alike are told up to this many, and the others counted. */
const MOST_ALIKE = 10;

/** Tells what is different from the look before, a line for each object: for logs and pipes. */
export interface ChangeTeller {
  tell(trees: readonly TreeNode[]): readonly string[];
}

export function createChangeTeller(): ChangeTeller {
  let known = new Map<string, string>();
  return {
    tell(trees) {
      const next = new Map<string, string>();
      const changed = new Map<string, string[]>();
      const add = (node: TreeNode): void => {
        const key = nameOf(node);
        const words = wordsOf(node);
        next.set(key, words);
        if (known.get(key) !== words) {
          const alike = `${node.kind} ${words.replaceAll(node.name, "*")}`;
          changed.set(alike, [...(changed.get(alike) ?? []), `${key}  ${words}`]);
        }
        for (const child of node.children) add(child);
      };
      for (const tree of trees) add(tree);
      const gone = [...known.keys()].filter((key) => !next.has(key)).map((key) => `${key}  gone`);
      known = next;
      return [...[...changed.values()].flatMap(bounded), ...bounded(gone)];
    },
  };
}

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_ALIKE + 1) return lines;
  return [...lines.slice(0, MOST_ALIKE), `+ ${(lines.length - MOST_ALIKE).toLocaleString("en")} more like ${lines[MOST_ALIKE - 1] ?? ""}`];
}

function nameOf({ kind, namespace, name }: TreeNode): string {
  return `${kind} ${namespace}/${name}`;
}

function wordsOf(node: TreeNode): string {
  const { ready, state, machines, node: kubernetesNode, notes } = node;
  const told = notes.map(({ type, message }) => oneLine(type === "Ready" ? `waits for: ${message}` : `${type}: ${message}`));
  const nodeName = ready === "True" ? (kubernetesNode ?? "") : "";
  const counted = isMachine(node) ? nodeName : machines === undefined ? "" : `${machines.ready}/${machines.wanted} machines`;
  return [ready === "True" && state !== "Ready" ? `Ready, ${state}` : state, counted, ...told].filter((word) => word !== "").join("  ");
}
