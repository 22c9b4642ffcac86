import { existsSync } from "node:fs";
import { join } from "node:path";
import { createX509Keys, systemClock, systemRandom } from "@talos-operator/adapters";
import {
  generateSecretsBundle,
  printSecretsBundle,
  secretsBundleFromKubernetesPki,
  secretsBundleFromMachineConfig,
  type KubernetesPkiInput,
  type SecretsBundle,
} from "@talos-operator/talos";
import { booleanFlag, givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { readInput } from "../files/input-files.ts";
import { checkNoneExists, writeOutput } from "../files/output-files.ts";
import { releaseDefaults } from "../files/release-defaults.ts";

export async function runSecretsGenerate(flags: FlagValues, context: CommandContext): Promise<void> {
  const config = givenString(flags, "from-controlplane-config");
  const folder = givenString(flags, "from-kubernetes-pki");
  const bootstrapToken = givenString(flags, "kubernetes-bootstrap-token");
  const { contract } = releaseDefaults(givenString(flags, "talos-version"));
  await write(flags, context, async () => {
    const input = { contract, clock: systemClock, random: systemRandom, keys: createX509Keys() };
    // The order in which talosctl takes them.
    if (folder !== undefined) return secretsBundleFromKubernetesPki({ ...input, ...kubernetesPki(folder, bootstrapToken) });
    return config === undefined ? generateSecretsBundle(input) : secretsBundleFromMachineConfig(readInput(config));
  });
}

const pkiFiles = ["ca.crt", "ca.key", "etcd/ca.crt", "etcd/ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key"];

/** The files that are there; the library says which one is missing. */
function kubernetesPki(
  folder: string,
  bootstrapToken: string | undefined,
): Pick<KubernetesPkiInput, "files" | "folder"> & { readonly bootstrapToken?: string } {
  const there = pkiFiles.filter((file) => existsSync(join(folder, file)));
  const files = Object.fromEntries(there.map((file) => [file, readInput(join(folder, file))]));
  return { files, folder, ...(bootstrapToken === undefined ? {} : { bootstrapToken }) };
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
