import type { MachineConfigFacts } from "@talos-operator/talos";
import { wantedDisk } from "./wanted-disk.ts";
import type { MachineSettings } from "../model/machine.ts";
import type { Differing, InstallDifference } from "../model/config.ts";

/**
 * Compares what only an installation reads. `undefined` where nothing differs, and for machines that were not installed (containers).
 *
 * @param asked of a configuration that was rendered for the version that runs
 * @param version Talos that runs: an image of that version from the same place is no difference, for an upgrade leaves the one of before in the config
 */
export function installDifference(
  asked: MachineConfigFacts["install"],
  runs: MachineConfigFacts["install"],
  { machineSpec, version }: { readonly machineSpec: MachineSettings; readonly version: string },
): InstallDifference | undefined {
  if (runs.image === undefined) return undefined;
  const disk = wantedDisk(machineSpec);
  const image = asked.image === undefined ? undefined : differing(asked.image, runs.image);
  const difference: InstallDifference = {
    ...(image === undefined || isOfVersion(image, version) ? {} : { image }),
    ...(disk === undefined || runs.disk === undefined || disk === runs.disk ? {} : { disk: { asked: disk, runs: runs.disk } }),
    ...(asked.wipe === runs.wipe ? {} : { wipe: { asked: asked.wipe, runs: runs.wipe } }),
  };
  return Object.keys(difference).length === 0 ? undefined : difference;
}

function differing(asked: string, runs: string): Differing<string> | undefined {
  return asked === runs ? undefined : { asked, runs };
}

/** Both are from one place, and the one that is asked for is of the version that runs. */
function isOfVersion({ asked, runs }: Differing<string>, version: string): boolean {
  const [place, tag] = parts(asked);
  return place === parts(runs)[0] && tag === version;
}

function parts(image: string): readonly [place: string, tag: string | undefined] {
  const [, place = image, tag] = /^([^@]+):([^:/@]+)$/.exec(image) ?? [];
  return [place, tag];
}
