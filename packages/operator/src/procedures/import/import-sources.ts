import type { TalosControlPlane } from "@talos-operator/api";
import type { SecretsBundle } from "@talos-operator/talos";
import { inTurn, voterOf } from "../../assess/backup-sources.ts";
import type { BackupSources, NoSources } from "../../assess/backup-sources.ts";
import { agreedPlace } from "./assess.ts";
import { placesOf } from "./found-bundles.ts";
import type { FoundBundles } from "./found-bundles.ts";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { Look } from "../../model/look.ts";
import type { FoundBundle, MachineReading, SeenAdoption } from "../../model/adoption.ts";

type RunningLook = Extract<Look, { readonly kind: "running" }>;

/**
 * Whom a snapshot of a cluster may be asked for whose import is pending. Pure.
 *
 * Its record would say which machines are its own; without one each proves it itself: its configuration holds the very keys that were found, and the machine
 * that answers is the one whose configuration was read. What else stands in the way of the import does not matter to who only reads.
 *
 * @returns `"not-looked"` while the places of the keys cannot be read
 */
export function importSources(
  controlPlane: TalosControlPlane,
  { places }: Pick<SeenAdoption, "places">,
  machines: readonly { readonly declared: DeclaredMachine; readonly look: Look; readonly reading: MachineReading | string | undefined }[],
): BackupSources | NoSources | "not-looked" {
  if (places === undefined) return "not-looked";
  const agreed = agreedPlace(places, placesOf(controlPlane));
  if ("words" in agreed) return { why: agreed.words.join(" ") };
  const { found } = agreed;
  const controlPlanes = machines.filter(({ declared }) => declared.role === "controlplane");
  const proven = controlPlanes.flatMap(({ declared, look, reading }) =>
    look.kind === "running" && isOwn(found, look, reading)
      ? voterOf(declared, look).map((voter) => ({ voter, version: look.version, kubernetes: reading.kubernetesVersion }))
      : [],
  );
  const names = new Set(proven.map(({ voter }) => voter.machine));
  const [first] = proven;
  return {
    clusterId: found.clusterId,
    foundKeys: found.fingerprint,
    talosVersion: first?.version ?? "",
    kubernetesVersion: first?.kubernetes ?? "",
    voters: inTurn(proven.map(({ voter }) => voter)),
    others: controlPlanes.map(({ declared }) => declared.name).filter((name) => !names.has(name)),
  };
}

function isOwn(found: FoundBundle, { hardware }: RunningLook, reading: MachineReading | string | undefined): reading is MachineReading {
  if (reading === undefined || typeof reading === "string") return false;
  if (hardware !== undefined && (hardware.uuid ?? "") !== reading.uuid) return false;
  return reading.machineType === "controlplane" && reading.clusterId === found.clusterId && reading.hasKeysOfBundle;
}

/** The keys that all places agree on; `undefined` where one is broken or holds others: then nobody knows whose they are. */
export function agreedBundle(controlPlane: TalosControlPlane, { places, bundle }: FoundBundles): SecretsBundle | undefined {
  return "words" in agreedPlace(places, placesOf(controlPlane)) ? undefined : bundle;
}
