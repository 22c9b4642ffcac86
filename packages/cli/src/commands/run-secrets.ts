import { createX509Keys, systemClock, systemRandom } from "@talos-operator/adapters";
import { generateSecretsBundle, printSecretsBundle, secretsBundleFromMachineConfig, type SecretsBundle } from "@talos-operator/talos";
import { booleanFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { readInput } from "../files/input-files.ts";
import { checkNoneExists, writeOutput } from "../files/output-files.ts";
import { releaseDefaults } from "../files/release-defaults.ts";

export async function runSecretsGenerate(flags: FlagValues, context: CommandContext): Promise<void> {
  const config = stringFlag(flags, "from-controlplane-config");
  const { contract } = releaseDefaults(stringFlag(flags, "talos-version"));
  await write(flags, context, async () =>
    config === undefined
      ? generateSecretsBundle({ contract, clock: systemClock, random: systemRandom, keys: createX509Keys() })
      : secretsBundleFromMachineConfig(readInput(config)),
  );
}

export async function runSecretsFromConfig(flags: FlagValues, context: CommandContext): Promise<void> {
  await write(flags, context, () => secretsBundleFromMachineConfig(readInput(requiredString(flags, "controlplane-config"))));
}

async function write(flags: FlagValues, { stdout }: CommandContext, make: () => SecretsBundle | Promise<SecretsBundle>): Promise<void> {
  const path = requiredString(flags, "output-file");
  const force = booleanFlag(flags, "force");
  // Before the keys are made, which takes long.
  checkNoneExists([path], { force });
  writeOutput({ path, text: printSecretsBundle(await make()) }, { force, stdout });
}
