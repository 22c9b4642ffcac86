import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join, relative } from "node:path";

const root = join(import.meta.dirname, "../../../..");

/**
 * The loopback network of a test file, as its first three numbers. It follows from the path, so genuine servers get fixed ports without being in each other's way.
 * Simulated machines have 127.1.0.0/24 by default, which is no test file's.
 */
export function networkOf(file: string): string {
  const hash = createHash("sha256").update(relative(root, file)).digest();
  return `127.${20 + (hash.readUInt16BE(0) % 231)}.${hash.readUInt16BE(2) % 255}`;
}

let given = 0;

/** An address of the running test file's network that nobody in it has yet: the test runner starts each file in a process of its own. */
export function ownAddress(): string {
  given += 1;
  assert.ok(given < 255, "all addresses of the file's network are given");
  return `${networkOf(process.argv[1] ?? "")}.${given}`;
}
