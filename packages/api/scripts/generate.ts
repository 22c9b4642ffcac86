/**
 * Writes what follows from the kinds and the condition catalogue: `config/crd/*.yaml`, `config/crd/companions/*.yaml`,
 * `docs/reference/crds.md`,
 * `docs/reference/conditions.md`, `docs/reference/events.md`. Same sources, same bytes.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dump } from "js-yaml";
import { companionCrds, companionKinds, crds, kinds } from "../src/crds.ts";
import { conditionCatalogue } from "../src/reasons/catalogue.ts";
import { eventCatalogue } from "../src/reasons/events.ts";
import { conditionsReference } from "./conditions-reference.ts";
import { crdReference } from "./crd-reference.ts";
import { eventsReference } from "./events-reference.ts";

const root = join(import.meta.dirname, "../../..");
const header = "# Generated from packages/api by `npm run generate`. Do not edit: change the kind there.\n";

for (const [folder, definitions] of [
  ["config/crd", crds],
  ["config/crd/companions", companionCrds],
] as const) {
  const crdFolder = join(root, folder);
  mkdirSync(crdFolder, { recursive: true });
  for (const old of readdirSync(crdFolder)) if (old.endsWith(".yaml")) rmSync(join(crdFolder, old));
  for (const crd of definitions) {
    const yaml = dump(crd, { lineWidth: -1, noRefs: true });
    writeFileSync(join(crdFolder, `${crd.spec.group}_${crd.spec.names.plural}.yaml`), `${header}${yaml}`);
  }
}

const reference = join(root, "docs/reference");
mkdirSync(reference, { recursive: true });
writeFileSync(join(reference, "crds.md"), crdReference(kinds, companionKinds));
writeFileSync(join(reference, "conditions.md"), conditionsReference(conditionCatalogue));
writeFileSync(join(reference, "events.md"), eventsReference(eventCatalogue));
