import { isSameSchematic } from "@talos-operator/talos";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { controlPlaneIntent } from "../../record/facts.ts";
import { WELL_WITHIN_MS } from "./times.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { ClusterFacts, InstalledFact, MachineFact } from "../../model/record.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/**
 * Any boot starts a Talos that is installed: after a power failure, by a person, or to join etcd anew. Whoever meets a machine that runs it without having been asked to
 * judges it as if it had been: it is done when it is well, and goes back or is left where it is not. Where something else runs, the word that it is installed was lost.
 *
 * @see talos v1.13.9 `internal/app/machined/pkg/runtime/v1alpha1/bootloader` the slot that the next boot starts, and the one that it falls back to
 */
export function withUnaskedBoots({ seen, facts: stored }: Assessment, facts: ClusterFacts): ClusterFacts {
  const draft = new FactsDraft(facts);
  // What ends in this pass is closed by one write, and what begins is opened by the next.
  let isTaken = [stored, facts].some((one) => one !== undefined && controlPlaneIntent(one) !== undefined);
  for (const fact of facts.machines) {
    const { name, role, installed } = fact;
    if (installed === undefined || facts.intents.some(({ machine }) => machine === name)) continue;
    const config = seen.configs?.get(name);
    if (config?.kind !== "known" || config.bootId === installed.bootId) continue;
    const runs = whatRuns(config, installed);
    if (runs === "unreported") continue;
    if (runs === "another") {
      draft.put(
        config.talos?.fallback === undefined ? withoutInstalled(fact) : { ...fact, installed: { ...installed, bootId: config.bootId } },
      );
      continue;
    }
    // One control plane at a time is waited for.
    if (role === "controlplane" && isTaken) continue;
    isTaken ||= role === "controlplane";
    const intent = intentFor(fact, installed, seen.now, seen.now + (seen.upgradeWithinMs ?? WELL_WITHIN_MS));
    draft.open(intent);
    draft.decide({ at: seen.now, action: intent.what, reason: "BootedUnasked", machine: name, message: intent.why });
  }
  return draft.facts();
}

/** Where the version stays, the schematic alone tells the two slots apart. */
function whatRuns({ version, talos }: KnownConfig, installed: InstalledFact): "it" | "another" | "unreported" {
  if (!isSameVersion(version, installed.version)) return "another";
  if (isSameVersion(installed.version, installed.before) && talos?.schematic === undefined) return "unreported";
  return isSameSchematic(talos?.schematic, installed.schematic) ? "it" : "another";
}

function withoutInstalled({ installed: _installed, ...fact }: MachineFact): MachineFact {
  return fact;
}

function intentFor(
  { name: machine, role, address, uuid }: MachineFact,
  { version, schematic, image, before, bootId }: InstalledFact,
  at: number,
  deadline: number,
): UpgradeIntent {
  return {
    what: "Reboot",
    machine,
    role,
    address,
    uuid,
    at,
    deadline,
    bootIdBefore: bootId,
    talosVersion: version,
    talosBefore: before,
    ...(schematic === undefined ? (image === undefined ? {} : { talosImage: image }) : { talosSchematic: schematic }),
    why: `${machine} was booted without being asked, and runs Talos ${version}, which was installed on it.`,
  };
}
