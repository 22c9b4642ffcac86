import { compareVersions, isSameSchematic, tryParseVersion } from "@talos-operator/talos";
import { EffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { readArguments, readBuild, readSlots } from "../procedures/configure/read-config.ts";
import { quarantineOf } from "../record/upgrades.ts";
import type { TalosBuild } from "../record/upgrades.ts";
import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Check } from "./define.ts";
import type { Connected } from "./send-to-machine.ts";

/** What every step of an upgrade names. */
export interface TalosStep {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
  /** It still runs the boot that it was decided on. */
  readonly ifBootId: string;
  /** It still runs this Talos. */
  readonly ifVersion: string;
}

/** What a step of an upgrade brings. */
export interface AnotherBuild extends TalosStep, TalosBuild {
  /** It is of what runs, and about kernel arguments of the configuration that do not run. */
  readonly ifLacking?: true;
  /** What runs failed on it, and it never was ready with that: META still names what ran before. */
  readonly ifBroken?: true;
}

/** The machine runs the boot that was seen. */
export const sameBoot: Check<Connected<Pick<TalosStep, "ifBootId">>> = async ({ action, client, effects: { signal } }) => {
  const bootId = (await client.bootId({ timeoutMs: LOOK_TIMEOUT_MS, signal })).trim();
  if (bootId !== action.ifBootId) throw new EffectError("PRECONDITION_GONE", "it has booted meanwhile");
};

/** The machine runs the Talos that was seen: nothing is sent for a version that already runs. */
export const runsVersion: Check<Connected<Pick<TalosStep, "ifVersion">>> = async ({ action, client, effects: { signal } }) => {
  const { tag } = await client.version({ timeoutMs: LOOK_TIMEOUT_MS, signal });
  if (!isSameVersion(tag, action.ifVersion)) throw new EffectError("PRECONDITION_GONE", `it runs Talos ${tag.slice(0, 64)} by now`);
};

/** Where the version that runs is the one that is asked for, another image of it runs: nothing is sent for a schematic that already runs. */
export const runsAnotherImage: Check<Connected<Pick<AnotherBuild, "ifVersion" | "version" | "schematic" | "ifLacking">>> = async ({
  action: { ifVersion, version, schematic, ifLacking },
  client,
  effects: { signal },
}) => {
  if (!isSameVersion(ifVersion, version)) return;
  if (ifLacking === true) {
    const seen = await readArguments(client, version, { timeoutMs: LOOK_TIMEOUT_MS, signal });
    if (seen?.bySettings !== true || (seen.lacks ?? []).length === 0)
      throw new EffectError("PRECONDITION_GONE", "it lacks no kernel argument of its configuration");
    return;
  }
  const { schematic: runs } = await readBuild(client, { timeoutMs: LOOK_TIMEOUT_MS, signal });
  if (runs === undefined || isSameSchematic(runs, schematic))
    throw new EffectError(
      "PRECONDITION_GONE",
      runs === undefined ? "it does not report which schematic it runs" : `it runs the schematic ${runs}`,
    );
};

/** Nothing else is installed and not booted: a second installation would go over the slot of what runs. */
export const nothingInstalled: Check<Connected<Pick<AnotherBuild, "machine" | "ifVersion" | "ifBroken">>> = async ({
  action: { machine, ifVersion, ifBroken },
  client,
  effects,
}) => {
  const { fallback, isStaged } = await readSlots(client, { timeoutMs: LOOK_TIMEOUT_MS, signal: effects.signal });
  const isBroken =
    ifBroken === true && effects.facts().quarantine?.some((row) => row.machine === machine && isSameVersion(row.version, ifVersion));
  if ((fallback !== undefined && isBroken !== true) || isStaged)
    throw new EffectError("PRECONDITION_GONE", "another Talos is installed on it already, and was not booted");
};

/** No machine of the cluster failed with this Talos by now. */
export function notQuarantined(facts: ClusterFacts, build: TalosBuild): boolean {
  return quarantineOf(facts, build).length === 0;
}

/** The version is the same, and nobody knows better of the schematic. */
export function isSameBuild(a: TalosBuild, b: TalosBuild): boolean {
  return isSameVersion(a.version, b.version) && isSameSchematic(a.schematic, b.schematic);
}

export function isSameVersion(a: string, b: string): boolean {
  return tryParseVersion(a) !== undefined && tryParseVersion(b) !== undefined && compareVersions(a, b) === 0;
}
