import { patchMachineConfig } from "@talos-operator/talos";
import { givenString, listFlag, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { readInput, readPatches } from "../files/input-files.ts";
import { writeOutput } from "../files/output-files.ts";
import { releaseDefaults } from "../files/release-defaults.ts";

export async function runConfigPatch(flags: FlagValues, { stdout }: CommandContext): Promise<void> {
  const config = readInput(requiredString(flags, "machineconfig-file"));
  const patches = readPatches(listFlag(flags, "patch"));
  const { contract } = releaseDefaults(givenString(flags, "talos-version"));
  const patched = patchMachineConfig(config, patches, { contract });
  const path = givenString(flags, "output");
  // talosctl ends the terminal's copy with one more new line.
  if (path === undefined) stdout.write(`${patched}\n`);
  else writeOutput({ path, text: patched }, { force: true, stdout });
  return Promise.resolve();
}
