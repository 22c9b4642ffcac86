import { tryParseVersion } from "@talos-operator/talos";
import type { Datacenter } from "@talos-operator/simulator";
import { CliError } from "../cli-error.ts";

/** The version that `--broken-version` names, as machines write it. @throws CliError for a text that is none */
export function brokenVersionOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (tryParseVersion(text) === undefined)
    throw new CliError(`${JSON.stringify(text.slice(0, 64))} is not a version of Talos`, "Write it as v1.13.11.", { exitCode: 2 });
  return text.startsWith("v") ? text : `v${text}`;
}

/**
 * Makes upgrades to `version` fail.
 *
 * @throws CliError when every machine runs it already: no upgrade would be seen, and what boots or joins would break instead
 */
export function breakVersion(datacenter: Pick<Datacenter, "machines" | "setReleaseFault">, version: string): void {
  const states = datacenter.machines().map(({ state }) => state);
  const installed = states.filter(({ isInstalled }) => isInstalled);
  const deciding = installed.length > 0 ? installed : states;
  if (deciding.length > 0 && deciding.every(({ hardware }) => hardware.talosVersion === version))
    throw new CliError(
      `--broken-version ${version} would show nothing: all machines run this version already`,
      `Name a version that no machine runs, such as ${nextPatch(version)}, and then upgrade to it.`,
      { exitCode: 2 },
    );
  datacenter.setReleaseFault(version, { boot: "never-healthy" });
}

function nextPatch(version: string): string {
  const { major = 0, minor = 0, patch = 0 } = tryParseVersion(version) ?? {};
  return `v${major}.${minor}.${patch + 1}`;
}
