import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Mutant } from "../mutant.ts";
import { parseFaults } from "../parse-faults.ts";

/** The faults in `faults/*.txt`, file by file. */
export function readFaults(): readonly Mutant[] {
  const folder = fileURLToPath(new URL("../faults/", import.meta.url));
  return globSync("*.txt", { cwd: folder })
    .toSorted()
    .flatMap((file) => parseFaults(readFileSync(`${folder}${file}`, "utf8")));
}
