// Writes docs/reference/cli.md from the declared commands.
import { writeFileSync } from "node:fs";
import { commands } from "../src/commands/index.ts";
import { commandReference } from "../src/reference.ts";

writeFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), commandReference(commands));
