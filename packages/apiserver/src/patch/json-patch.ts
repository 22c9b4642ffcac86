import { cloneJson, depthExceeds, equalJson, getOwn, isObject, setOwn, type JsonObject } from "../json.ts";
import { spendTime } from "../request/deadline.ts";
import { maxNestingDepth } from "../request/json.ts";
import { patchRejected, undecodable, type PatchOutcome } from "./outcome.ts";

/** Most operations that one patch may hold, as in kube-apiserver. */
const maxOperations = 10_000;

/**
 * Most bytes of JSON that all `copy` of one patch may make, as in kube-apiserver: a few of them that double an object grow beyond any memory.
 *
 * @see kubernetes `staging/src/k8s.io/apiserver/pkg/server/config.go`, `JSONPatchMaxCopyBytes`
 */
const maxCopiedBytes = 3 * 1024 * 1024;

/**
 * JSON Patch (RFC 6902). `document` is not changed.
 *
 * As in kube-apiserver, `replace` also adds a missing key of an object, `copy` from a missing key copies null, `test` takes a missing key for
 * null, and negative indices count from the end. Copies are bounded in sum as there, and no operation nests deeper than a body may.
 */
export function applyJsonPatch(document: JsonObject, operations: unknown): PatchOutcome {
  if (!Array.isArray(operations)) return undecodable(operations, "[]handlers.jsonPatchOp");
  if (operations.length > maxOperations) {
    return {
      ok: false,
      status: 413,
      message: `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    };
  }
  const root: Root = { document: cloneJson(document), copiedBytes: 0 };
  for (const operation of operations) {
    // An item put in front of a long list moves all of it.
    spendTime();
    if (!isObject(operation)) return undecodable(operation, "handlers.jsonPatchOp");
    if (!applyOperation(root, operation)) return patchRejected;
  }
  return isObject(root.document) ? { ok: true, object: root.document } : patchRejected;
}

interface Root {
  document: unknown;
  copiedBytes: number;
}

function applyOperation(root: Root, operation: JsonObject): boolean {
  const target = parsePointer(getOwn(operation, "path"));
  if (target === undefined) return false;
  const value = (): unknown => cloneJson(getOwn(operation, "value") ?? null);
  switch (getOwn(operation, "op")) {
    case "add":
      return add(root, target, value());
    case "remove":
      return remove(root, target) !== undefined;
    case "replace":
      return replace(root, target, value());
    case "test": {
      const found = read(root, target);
      return found !== undefined && equalJson(found.value, value());
    }
    case "copy": {
      const from = parsePointer(getOwn(operation, "from"));
      const found = from === undefined ? undefined : read(root, from);
      if (found === undefined) return false;
      root.copiedBytes += Buffer.byteLength(JSON.stringify(found.value));
      return root.copiedBytes <= maxCopiedBytes && add(root, target, cloneJson(found.value));
    }
    case "move": {
      const from = parsePointer(getOwn(operation, "from"));
      const removed = from === undefined ? undefined : remove(root, from);
      return removed !== undefined && add(root, target, removed.value);
    }
    default:
      return false;
  }
}

function parsePointer(pointer: unknown): string[] | undefined {
  if (typeof pointer !== "string") return undefined;
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The container that holds the last step of a path, or `undefined` when the path leads nowhere. */
function containerOf(root: Root, path: readonly string[]): JsonObject | unknown[] | undefined {
  let at = root.document;
  for (const step of path.slice(0, -1)) {
    if (Array.isArray(at)) at = at[indexOf(step, at.length) ?? at.length];
    else if (isObject(at)) at = getOwn(at, step);
    else return undefined;
  }
  return Array.isArray(at) || isObject(at) ? at : undefined;
}

/** Index of an existing item. */
function indexOf(step: string, length: number): number | undefined {
  if (!/^(?:0|-?[1-9]\d{0,8})$/u.test(step)) return undefined;
  const index = Number(step) < 0 ? Number(step) + length : Number(step);
  return index >= 0 && index < length ? index : undefined;
}

function read(root: Root, path: readonly string[]): { readonly value: unknown } | undefined {
  const last = path.at(-1);
  if (last === undefined) return { value: root.document };
  const container = containerOf(root, path);
  if (container === undefined) return undefined;
  if (!Array.isArray(container)) return { value: getOwn(container, last) ?? null };
  const index = indexOf(last, container.length);
  return index === undefined ? undefined : { value: container[index] };
}

function add(root: Root, path: readonly string[], value: unknown): boolean {
  // Each operation may hang one value below the last, and what follows walks the whole.
  if (path.length > maxNestingDepth || depthExceeds(value, maxNestingDepth - path.length)) return false;
  const last = path.at(-1);
  if (last === undefined) {
    root.document = value;
    return true;
  }
  const container = containerOf(root, path);
  if (container === undefined) return false;
  if (!Array.isArray(container)) {
    setOwn(container, last, value);
    return true;
  }
  const index = last === "-" || last === String(container.length) ? container.length : indexOf(last, container.length);
  if (index === undefined) return false;
  container.splice(index, 0, value);
  return true;
}

function replace(root: Root, path: readonly string[], value: unknown): boolean {
  const container = containerOf(root, path);
  const last = path.at(-1);
  if (last === undefined || container === undefined || !Array.isArray(container)) return add(root, path, value);
  const index = indexOf(last, container.length);
  if (index === undefined || depthExceeds(value, maxNestingDepth - path.length)) return false;
  container[index] = value;
  return true;
}

function remove(root: Root, path: readonly string[]): { readonly value: unknown } | undefined {
  const last = path.at(-1);
  const container = containerOf(root, path);
  if (last === undefined || container === undefined) return undefined;
  if (Array.isArray(container)) {
    const index = indexOf(last, container.length);
    if (index === undefined) return undefined;
    const [value] = container.splice(index, 1);
    return { value };
  }
  if (!Object.hasOwn(container, last)) return undefined;
  const value = container[last];
  delete container[last];
  return { value };
}
