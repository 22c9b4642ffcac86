import { createHash } from "node:crypto";
import { compareContracts, contractFor, describeMachineConfig, isConfigError, validateMachineConfig } from "@talos-operator/talos";
import type { ConfigError } from "@talos-operator/talos";
import { adviceFor } from "./advice.ts";
import { wrongTypeWords } from "./wrong-type-words.ts";
import { etcdArgumentTrouble } from "./etcd-arguments.ts";
import { noSecrets } from "./no-secrets.ts";
import { contractOf, renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";
import { hasDiskSelector } from "./wanted-disk.ts";

/** Most text of patches that one machine may have, in characters. */
const MAX_PATCH_CHARACTERS = 1024 * 1024;

/** What rendering without keys finds out. */
export type ConfigCheck =
  /** In words that name document and path; with what to write, where the words do not say it. */
  | { readonly kind: "trouble"; readonly words: string; readonly entry?: TroubledEntry; readonly advice?: string }
  /** The networks, the installer, the discovery, the network plugin and the name that the configuration ends up with, patches included. */
  | {
      readonly kind: "fine";
      readonly podSubnets: readonly string[];
      readonly serviceSubnets: readonly string[];
      readonly installImage: string | undefined;
      /** The machine finds the others of its cluster by discovery. */
      readonly usesDiscovery: boolean;
      /** False: `cni: none`. Somebody installs a network plugin once there is a cluster. */
      readonly bringsNetwork: boolean;
      /** Name of its Node, where the configuration fixes one. */
      readonly nodeName: string | undefined;
    };

/** The entry that the trouble begins with. */
export interface TroubledEntry {
  readonly list: "configPatches" | "additionalConfig";
  readonly index: number;
}

export type Trouble = Extract<ConfigCheck, { readonly kind: "trouble" }>;

/** The words behind the name of the entry, where the trouble is in one. */
export function troubleWords({ entry, words }: Trouble): string {
  return entry === undefined ? words : `${entry.list}[${entry.index}]: ${words}`;
}

/** Answers that are kept: every pass asks the same question, and an answer costs milliseconds. */
const MAX_KEPT = 5_000;

const kept = new Map<string, ConfigCheck>();

/**
 * Whether a configuration can be made at all, found before any key or machine is touched: renders it with words in place of keys.
 *
 * Equal input gives the kept answer of the last time.
 */
export function checkConfig(input: Omit<RenderInput, "secrets">): ConfigCheck {
  const key = createHash("sha256").update(JSON.stringify(input)).digest("base64");
  const known = kept.get(key);
  if (known !== undefined) return known;
  const check = renderAndDescribe(input);
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(key, check);
  return check;
}

function renderAndDescribe(input: Omit<RenderInput, "secrets">): ConfigCheck {
  const { configPatches, additionalConfig } = input.machineSpec;
  if (JSON.stringify([configPatches, additionalConfig]).length > MAX_PATCH_CHARACTERS)
    return { kind: "trouble", words: "patches and documents together are larger than 1 MiB. Make them smaller" };
  const check = checkOnce(input);
  if (check.kind === "fine") return check;
  const found = firstTrouble(input, check.words) ?? check;
  const advice = adviceFor(found.words);
  if (advice === undefined) return found;
  return { ...found, words: found.words.replace(/\. Give a value in the form that the field asks for\.?$/, ""), advice };
}

/** Entries that are tried one by one; whoever writes more finds it by halves. */
const MAX_TRIED = 64;

/** The trouble with the entry of `configPatches` or `additionalConfig` that it begins with; `undefined` = it is none of them, or nobody can say. */
function firstTrouble(input: Omit<RenderInput, "secrets">, words: string): Trouble | undefined {
  const { configPatches = [], additionalConfig = [] } = input.machineSpec;
  if (configPatches.length + additionalConfig.length > MAX_TRIED) return undefined;
  const upTo = (patches: number, documents: number): ConfigCheck => {
    const entries = { configPatches: configPatches.slice(0, patches), additionalConfig: additionalConfig.slice(0, documents) };
    return checkOnce({ ...input, machineSpec: { ...input.machineSpec, ...entries } });
  };
  const entries = [
    ...configPatches.map((_, index) => ({ list: "configPatches" as const, index, check: () => upTo(index + 1, 0) })),
    ...additionalConfig.map((_, index) => ({
      list: "additionalConfig" as const,
      index,
      check: () => upTo(configPatches.length, index + 1),
    })),
  ];
  if (upTo(0, 0).kind === "trouble") return undefined;
  for (const { list, index, check } of entries) {
    const found = check();
    // A later entry may put right what an earlier one left unfinished.
    if (found.kind === "trouble" && isPartOf(found.words, words)) return { ...found, entry: { list, index } };
  }
  return undefined;
}

/** Talos counts errors in its words, and so each of them is looked for by itself. */
function isPartOf(words: string, whole: string): boolean {
  const lines = words.split("\n").filter((line) => line.startsWith("\t* "));
  return lines.length === 0 ? whole.includes(words) : lines.every((line) => whole.includes(line));
}

function checkOnce(input: Omit<RenderInput, "secrets">): ConfigCheck {
  const held = (input.machineSpec.configPatches ?? []).find((patch) => isHeldBySelf(patch, input.addresses));
  if (held !== undefined)
    return {
      kind: "trouble",
      words: "a Layer2VIPConfig names the machine's own address, which would move to another machine. Name a free one",
    };
  try {
    const text = renderMachineConfig({ ...input, secrets: noSecrets });
    const refusal = isOnlyGenerated(input) ? undefined : refusalOf(text, input);
    if (refusal !== undefined) return { kind: "trouble", words: refusal };
    const { podSubnets, serviceSubnets, install, discovery, bringsNetwork, nodeName, etcdArguments } = describeMachineConfig(text);
    const etcd = etcdArgumentTrouble(etcdArguments);
    if (etcd !== undefined) return { kind: "trouble", words: etcd };
    if (hasDiskSelector(input.machineSpec) || (install.disk !== undefined && install.disk !== input.installDisk))
      return { kind: "trouble", words: "a patch chooses the install disk where nobody can look at it first. Name the disk in installDisk" };
    return { kind: "fine", podSubnets, serviceSubnets, installImage: install.image, usesDiscovery: discovery, bringsNetwork, nodeName };
  } catch (thrown) {
    if (isConfigError(thrown)) return { kind: "trouble", words: wordsFor(thrown) };
    if (thrown instanceof Error && thrown.name === "ConfigRefusal") return { kind: "trouble", words: thrown.message };
    throw thrown;
  }
}

function isHeldBySelf(patch: unknown, addresses: readonly string[]): boolean {
  if (typeof patch !== "object" || patch === null) return false;
  const { kind, name } = patch as { readonly kind?: unknown; readonly name?: unknown };
  return kind === "Layer2VIPConfig" && typeof name === "string" && addresses.includes(name);
}

/** Whether no person wrote a part of it that nothing else looks at: what the generator alone makes is held to Talos's rules by its tests. */
function isOnlyGenerated({ machineSpec, controlPlane }: Omit<RenderInput, "secrets">): boolean {
  const { base, configPatches, additionalConfig, registries, hostname, ips } = machineSpec;
  const written = [base, configPatches, additionalConfig, registries, hostname, ips, controlPlane.cni];
  const domain = controlPlane.clusterDomain;
  return written.every((part) => part === undefined) && (domain === undefined || domain === "cluster.local");
}

/** What a machine would object to in a config that a person wrote, wholly or in parts. */
function refusalOf(text: string, input: Omit<RenderInput, "secrets">): string | undefined {
  // Talos 1.14 looks into keys, and here words stand in their place unless the config that a person wrote brought its own.
  const aboutWords = new Set(input.machineSpec.base === undefined ? errorsOf(generatedAlone(input), input) : []);
  const errors = errorsOf(text, input).filter((error) => !aboutWords.has(error));
  const words = errors.slice(0, 3).join("; ").slice(0, 600);
  if (!/already set in v1alpha1 config|incompatible with v1alpha1 config/.test(words)) return words === "" ? undefined : words;
  const contract = input.contract ?? contractOf(input.version, input.readBy);
  return compareContracts(contract, contractFor(input.version)) < 0
    ? `${words} (the configurations of these machines are written for Talos ${contract}, and stay so: patch the document v1alpha1)`
    : `${words} (this release of Talos has a document of its own for that: write it there)`;
}

function generatedAlone(input: Omit<RenderInput, "secrets">): string {
  const { version, kubeVersion } = input.controlPlane;
  return renderMachineConfig({ ...input, controlPlane: { mode: "metal", version, kubeVersion }, machineSpec: {}, secrets: noSecrets });
}

function errorsOf(text: string, { version, platform }: Omit<RenderInput, "secrets">): readonly string[] {
  const mode = platform === "container" ? "container" : "metal";
  return validateMachineConfig(text, { mode, contract: contractFor(version) }).errors;
}

/** Where the machinery says it found the trouble: in a text that the operator made of the entry, whose lines nobody wrote. */
const MACHINERY_PLACE = /error decoding document \S+ \(line \d+\): (?:yaml: construct errors:\s+line \d+: )?/;
const OUR_PLACE = / \((?:document|path|line|column) [^()]*\)(?=\. )/;

/** The place once: the path in the entry, which is what its author finds again. */
function placedOnce({ message, path = "" }: ConfigError): string {
  if (!MACHINERY_PLACE.test(message)) return message;
  return message.replace(OUR_PLACE, "").replace(MACHINERY_PLACE, path === "" ? "" : `${path}: `);
}

/** The error's own words, except where they quote what stands under an unknown key: that may be anything, a password too. */
function wordsFor(error: ConfigError): string {
  // The generated config is there, so what lacks its document is an entry without content; null at the top is dropped by the API.
  if (error.code === "MISSING_DOCUMENT") return "an entry is empty. Remove it, or write what it should change";
  if (error.code !== "UNKNOWN_FIELD") return wrongTypeWords(error) ?? placedOnce(error);
  const document = error.document === undefined || error.document === MAIN_DOCUMENT ? "" : ` in document ${error.document}`;
  const words = `unknown field ${error.path ?? ""}${document}`;
  return error.meant === undefined ? `${words}. Check its spelling and indentation` : `${words} (did you mean ${error.meant}?)`;
}

const MAIN_DOCUMENT = "/v1alpha1/";
