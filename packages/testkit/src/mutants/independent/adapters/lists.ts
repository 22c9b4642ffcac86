import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { IndependentFault } from "../fault.ts";

const paths = ["a", "b", "c", "upgrades", "d"].map((part) => fileURLToPath(new URL(`../faults-${part}.json`, import.meta.url)));

/** All of them, as they are written down. */
export function readIndependent(): readonly IndependentFault[] {
  return paths.flatMap(readList);
}

/** Writes down which test file notices each of these. */
export function writeNoticed(noticedBy: ReadonlyMap<string, string>): void {
  for (const path of paths) {
    const before = readList(path);
    const after = before.map((fault) => ({ ...fault, ...withTest(noticedBy.get(fault.name)) }));
    if (JSON.stringify(after) !== JSON.stringify(before)) writeFileSync(path, `${JSON.stringify(after, undefined, 2)}\n`);
  }
}

function withTest(file: string | undefined): { readonly noticedBy?: string } {
  return file === undefined ? {} : { noticedBy: file };
}

function readList(path: string): readonly IndependentFault[] {
  return JSON.parse(readFileSync(path, "utf8")) as readonly IndependentFault[];
}
