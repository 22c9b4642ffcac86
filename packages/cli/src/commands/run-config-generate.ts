import { join, resolve } from "node:path";
import { createX509Keys, systemClock, systemRandom } from "@talos-operator/adapters";
import {
  canonicalMachineConfig,
  checkSecretsBundle,
  compareContracts,
  createTalosconfig,
  generateMachineConfig,
  generateSecretsBundle,
  parseSecretsBundle,
  patchMachineConfig,
  printTalosconfig,
  signClientCertificate,
  type SecretsBundle,
} from "@talos-operator/talos";
import { CliError } from "../cli-error.ts";
import { booleanFlag, givenString, listFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { checkClusterEndpoint } from "../files/cluster-endpoint.ts";
import { readInput, readPatches } from "../files/input-files.ts";
import { checkNoneExists, writeOutput } from "../files/output-files.ts";
import { releaseDefaults } from "../files/release-defaults.ts";

const outputTypes = ["controlplane", "worker", "talosconfig"] as const;
type OutputType = (typeof outputTypes)[number];

export async function runConfigGenerate(flags: FlagValues, context: CommandContext): Promise<void> {
  checkClusterEndpoint(requiredString(flags, "cluster-endpoint"));
  checkUnbuilt(flags);
  const types = typesOf(flags);
  const paths = pathsOf(flags, types);
  const mirrors = mirrorsOf(listFlag(flags, "registry-mirror"));
  const { contract, installerImage, kubernetesVersion } = releaseDefaults(givenString(flags, "talos-version"));
  const force = booleanFlag(flags, "force");
  checkNoneExists([...paths.values()], { force });
  const secretsFile = givenString(flags, "with-secrets");
  const patches = {
    all: readPatches(listFlag(flags, "config-patch")),
    controlplane: readPatches(listFlag(flags, "config-patch-control-plane")),
    worker: readPatches(listFlag(flags, "config-patch-worker")),
  };
  const given = secretsFile === undefined ? undefined : readSecrets(secretsFile, context);
  context.stderr.write("generating PKI and tokens\n");
  const secrets = given ?? (await generateSecretsBundle({ contract, clock: systemClock, random: systemRandom, keys: createX509Keys() }));
  warnOfOlderSecret(secrets, contract, context);
  const configOf = (role: "controlplane" | "worker"): string => {
    const generated = generateMachineConfig({
      role,
      clusterName: requiredString(flags, "cluster-name"),
      endpoint: requiredString(flags, "cluster-endpoint"),
      contract,
      kubernetesVersion: stringFlag(flags, "kubernetes-version") ?? kubernetesVersion(),
      secrets,
      install: { disk: requiredString(flags, "install-disk"), image: stringFlag(flags, "install-image") ?? installerImage },
      additionalSans: listFlag(flags, "additional-sans"),
      dnsDomain: requiredString(flags, "dns-domain"),
      discovery: booleanFlag(flags, "with-cluster-discovery"),
      ...(booleanFlag(flags, "with-kubespan") ? { kubeSpan: true } : {}),
      registryMirrors: mirrors,
    });
    const patched = patchMachineConfig(patchMachineConfig(generated, patches.all, { contract }), patches[role], { contract });
    return canonicalMachineConfig(patched, { contract });
  };
  const texts = new Map<OutputType, string>([
    ["controlplane", configOf("controlplane")],
    ["worker", configOf("worker")],
    ["talosconfig", await talosconfigOf(requiredString(flags, "cluster-name"), secrets)],
  ]);
  for (const [type, path] of paths) {
    writeOutput({ path, text: texts.get(type) ?? "" }, { force, stdout: context.stdout });
    if (path !== "-") context.stderr.write(`Created ${path}\n`);
  }
}

/** What talosctl refuses is refused; what would only not work is said. */
function readSecrets(path: string, { stderr }: CommandContext): SecretsBundle {
  const bundle = parseSecretsBundle(readInput(path));
  const problems = checkSecretsBundle(bundle, { now: systemClock.now() });
  const refused = problems.filter(({ origin }) => origin === "talos");
  if (refused.length > 0) {
    const list = refused.map(({ detail }) => detail).join("\n");
    throw new CliError(`failed to validate secrets bundle: ${list}`, "Restore the bundle from its backup; a new one is for a new cluster.");
  }
  for (const { detail } of problems) stderr.write(`WARNING: ${detail}\n`);
  return bundle;
}

/** The bytes are those of talosctl, also where they would cost a running cluster its Secrets. */
function warnOfOlderSecret({ secrets }: SecretsBundle, contract: string, { stderr }: CommandContext): void {
  if (secrets.aescbcEncryptionSecret === undefined || compareContracts(contract, "1.3") < 0) return;
  stderr.write(
    "WARNING: the bundle holds an AES-CBC secret, which configs of Talos 1.3 and newer leave out as talosctl does: a cluster that encrypted with it " +
      "cannot read its Secrets with this config. Patch the secret in before such a cluster gets it\n",
  );
}

async function talosconfigOf(clusterName: string, { certs }: SecretsBundle): Promise<string> {
  const pair = await signClientCertificate({ keys: createX509Keys(), authority: certs.os, notBefore: systemClock.now() });
  return printTalosconfig(createTalosconfig({ clusterName, ca: certs.os.certificate, ...pair }));
}

function checkUnbuilt(flags: FlagValues): void {
  for (const name of ["with-docs", "with-examples"]) {
    if (booleanFlag(flags, name))
      throw new CliError(`--${name} is not built`, `Leave it out or write --${name}=false; talosctl prints them.`, { exitCode: 2 });
  }
  const version = requiredString(flags, "version");
  if (version !== "v1alpha1") throw wrongUse(`unknown config version: ${JSON.stringify(version)}`);
}

/** In the order in which talosctl writes them. */
function typesOf(flags: FlagValues): readonly OutputType[] {
  const given = flags["output-types"] === undefined ? outputTypes : listFlag(flags, "output-types");
  if (given.length === 0) throw wrongUse("at least one output type must be specified");
  if (given.length > 1 && stringFlag(flags, "output") === "-") throw wrongUse("can't use multiple output types with stdout");
  const unknown = given.filter((type) => !outputTypes.some((known) => known === type));
  if (unknown.length > 0) throw wrongUse(unknown.map((type) => `invalid output type: ${JSON.stringify(type)}`).join(", "));
  return outputTypes.filter((type) => given.includes(type));
}

function pathsOf(flags: FlagValues, types: readonly OutputType[]): ReadonlyMap<OutputType, string> {
  const folder = givenString(flags, "output-dir");
  const output = givenString(flags, "output");
  if (folder !== undefined && output !== undefined) throw wrongUse("can't use both output-dir and output");
  const isFile = output !== undefined && (output === "-" || listFlag(flags, "output-types").length === 1);
  const inside = (type: OutputType): string => (type === "talosconfig" ? type : `${type}.yaml`);
  return new Map(types.map((type) => [type, isFile ? output : join(folder ?? output ?? resolve(), inside(type))]));
}

function mirrorsOf(specs: readonly string[]): Record<string, string[]> {
  const mirrors = new Map<string, string[]>();
  for (const spec of specs) {
    const at = spec.indexOf("=");
    if (at < 0) throw wrongUse(`invalid registry mirror spec: ${JSON.stringify(spec)}`);
    const host = spec.slice(0, at);
    mirrors.set(host, [...(mirrors.get(host) ?? []), spec.slice(at + 1)]);
  }
  return Object.fromEntries(mirrors);
}

function wrongUse(message: string): CliError {
  return new CliError(message, "See --help for what the flags take.", { exitCode: 2 });
}
