// Writes docs/reference/cli.md from the declared commands, and docs/reference/errors.md from the pages below it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { commands } from "../src/commands/index.ts";
import { commandReference, errorIndex } from "../src/reference.ts";

const reference = new URL("../../../docs/reference/", import.meta.url);
const pages = readdirSync(new URL("errors/", reference))
  .filter((file) => file.endsWith(".md"))
  .toSorted()
  .map((file) => ({ file, text: readFileSync(new URL(`errors/${file}`, reference), "utf8") }));

writeFileSync(new URL("cli.md", reference), commandReference(commands));
writeFileSync(new URL("errors.md", reference), errorIndex(pages));
