import { conditionCatalogue, type ConditionEntry } from "@talos-operator/api";
import type { Report } from "./violation.ts";
import type { ObjectView } from "./object-view.ts";

const catalogue: Readonly<Record<string, ConditionEntry | undefined>> = conditionCatalogue;

const PLURALS = ["kubernetesclusters", "talosclusters", "taloscontrolplanes", "talosworkers", "talosmachines"];

/** What says what a person might do, and stays true of a cluster to which nothing needs to be done. */
const LASTING: ReadonlySet<string> = new Set([
  "TrustedOnFirstUse",
  "UuidShared",
  "UuidOfVendor",
  "RenderedOtherwise",
  "NotSeenInMaintenance",
  "TakenOver",
  "NotConfigured",
]);

/**
 * Li3 of a cluster that is as it should be and at rest: no condition is left that waits for somebody or something, and each has a reason of the catalogue
 * and a message.
 */
export function judgeConditions(objects: ObjectView, report: Report): void {
  for (const plural of PLURALS)
    for (const { metadata, status } of objects.all(plural))
      for (const { type, reason = "", message = "" } of status?.conditions ?? []) {
        const known = catalogue[type]?.reasons[reason];
        const where = `${plural} ${metadata?.name ?? ""}: ${type} ${reason}`;
        if (known === undefined || message === "") report("Li3", `${where} has no reason of the catalogue or no message`);
        else if (known.next !== "-" && !LASTING.has(reason)) report("Li3", `${where} is left over in a cluster at rest: ${message}`);
      }
}
