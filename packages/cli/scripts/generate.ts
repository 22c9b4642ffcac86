// Writes docs/reference/cli.md from the declared commands, what the chart and config/ take from the code, and the chart's README.
import { writeFileSync } from "node:fs";
import { commands } from "../src/commands/index.ts";
import { commandReference } from "../src/reference.ts";
import { environmentReference } from "../src/settings/reference.ts";
import { writeChartReadme } from "./chart-readme.ts";
import { writeInstallManifests } from "./install-manifests.ts";

writeFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), commandReference(commands));
writeFileSync(new URL("../../../docs/reference/environment.md", import.meta.url), environmentReference());
writeInstallManifests();
writeChartReadme();
