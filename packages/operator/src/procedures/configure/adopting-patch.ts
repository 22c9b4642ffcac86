import type { ConfigChange } from "@talos-operator/talos";

/** Longest patch that a message carries. Characters. */
const LONGEST = 1_500;

type Tree = Map<string, Tree | string | number | boolean>;

/**
 * A strategic patch that makes what machines run the wanted state, as one line of JSON for each document: what `configPatches` takes.
 *
 * Only plain values are in it: secrets are not shown to anybody, and places inside lists have no name. `undefined` when nothing is left, or it is too long.
 *
 * @param changes from what runs to what is wanted
 */
export function adoptingPatch(changes: readonly ConfigChange[]): string | undefined {
  const documents = new Map<string, Tree>();
  for (const change of changes) {
    const steps = stepsOf(change.path);
    const value = valueOf(change.before);
    if (steps === undefined || value === undefined) continue;
    const [apiVersion = "", kind = "", name = ""] = change.document.split("/");
    const root: Tree = documents.get(change.document) ?? new Map();
    if (apiVersion !== "" && kind !== "v1alpha1") {
      root.set("apiVersion", apiVersion).set("kind", kind);
      if (name !== "") root.set("name", name);
    }
    put(root, steps, value);
    documents.set(change.document, root);
  }
  if (documents.size === 0) return undefined;
  const text = [...documents.values()].map((tree) => JSON.stringify(tree, asObject)).join(" and ");
  return text.length > LONGEST ? undefined : text;
}

/** Names on the way to a place; `undefined` for a whole document and for places inside lists. */
function stepsOf(path: string): readonly string[] | undefined {
  const steps = [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)];
  if (steps.length === 0 || steps.some(([, , index]) => index !== undefined)) return undefined;
  return steps.map(([, quoted, , plain]) => quoted ?? plain ?? "");
}

/** The value as a patch has it; `undefined` for one that is hidden, or more than a plain word. */
function valueOf(text: string | undefined): Tree | string | number | boolean | undefined {
  if (text === undefined) return new Map([["$patch", "delete"]]);
  if (text.includes("(secret)") || text.includes("\n") || /^[-{[|>]/.test(text)) return undefined;
  if (text === "true" || text === "false") return text === "true";
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

function put(tree: Tree, [step = "", ...rest]: readonly string[], value: Tree | string | number | boolean): void {
  if (rest.length === 0) {
    tree.set(step, value);
    return;
  }
  const inner = tree.get(step);
  const next: Tree = inner instanceof Map ? inner : new Map();
  tree.set(step, next);
  put(next, rest, value);
}

function asObject(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
