import { validateMachineConfig, type RuntimeMode } from "@talos-operator/talos";
import { CliError } from "../cli-error.ts";
import { booleanFlag, givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { readInput } from "../files/input-files.ts";
import { releaseDefaults } from "../files/release-defaults.ts";

/** The agent that installs metal machines has the rules of a machine that is installed already. */
const modes: ReadonlyMap<string, RuntimeMode> = new Map([
  ["metal", "metal"],
  ["cloud", "cloud"],
  ["container", "container"],
  ["metal-agent", "cloud"],
]);

export async function runConfigValidate(flags: FlagValues, { stdout, stderr }: CommandContext): Promise<void> {
  const path = requiredString(flags, "config");
  const name = requiredString(flags, "mode");
  const text = readInput(path);
  const mode = modes.get(name);
  if (mode === undefined)
    throw new CliError(`unknown runtime mode: ${JSON.stringify(name)}`, "Use metal, cloud or container.", { exitCode: 2 });
  const { contract } = releaseDefaults(givenString(flags, "talos-version"));
  const { warnings, report, hazards } = validateMachineConfig(text, { mode, strict: booleanFlag(flags, "strict"), contract });
  for (const warning of warnings) stderr.write(`WARNING: ${warning}\n`);
  for (const { code, document, path: place, message } of hazards)
    stderr.write(`WARNING: ${document}${place === "" ? "" : ` ${place}`}: ${message} (${code})\n`);
  if (report !== undefined) {
    stderr.write(`${report}\n`);
    throw new CliError(`${path} is not valid for ${name} mode`, "Correct the fields that are named above.");
  }
  stdout.write(`${path} is valid for ${name} mode\n`);
  return Promise.resolve();
}
