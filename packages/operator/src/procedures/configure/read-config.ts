import { createHash } from "node:crypto";
import { compareContracts, describeMachineConfig, removedFromMeta, tryParseVersion } from "@talos-operator/talos";
import type { MachineConfigFacts, SecretsBundle } from "@talos-operator/talos";
import { isTalosError, META_KEYS, resourceKinds } from "@talos-operator/talos/client";
import type { CallOptions, SystemInformationSpec, TalosClient } from "@talos-operator/talos/client";
import { compareConfigs } from "../../config/compare.ts";
import type { ConfigComparison } from "../../config/compare.ts";
import { differingName, guardOf, MAX_CHANGES } from "../../config/guard-of.ts";
import { hostnameInMeta } from "../../config/meta-network.ts";
import { installDifference } from "../../config/install-difference.ts";
import { withLoader } from "../../config/with-loader.ts";
import { withoutBarred } from "../../config/withheld.ts";
import type { SendableConfig } from "../../config/withheld.ts";
import { componentDifferences } from "../../config/running-values.ts";
import { contractOf, renderMachineConfig } from "../../config/render.ts";
import type { RenderInput } from "../../config/render.ts";
import { EffectError } from "../../errors.ts";
import { reportedImage } from "../../looking/reported-image.ts";
import { seenArguments } from "../../looking/kernel-arguments.ts";
import { reportedWord } from "../../looking/reported-words.ts";
import { metaHashOf } from "./meta-plan.ts";
import type { WantedMeta } from "./meta-plan.ts";
import type { KnownConfig, SeenArguments, SeenMeta, SeenTalos } from "../../model/config.ts";

/** Whose configuration is read, and what it is compared with. Holds no secrets. */
export interface ConfigQuestion {
  readonly machine: string;
  readonly address: string;
  /** SMBIOS UUID that was written down; empty, as in containers, demands nothing. */
  readonly uuid: string;
  /** Hash of the settings that are wanted. */
  readonly settings: string;
  /** Contract that was written down; `undefined` = to be told from the configuration itself. */
  readonly contract: string | undefined;
  /** What is to stand in its META; absent = META is of no interest. */
  readonly meta?: WantedMeta;
  /** It is upgraded, or is to be: what its boot slots hold is asked, and asked anew when a step of it is over. */
  readonly upgrades?: "open" | "asked";
  /** Kubernetes that the spec asks for: another one may be brought by other means, and then it is looked at anew. */
  readonly asked?: string;
  /** `version` is the one that runs. */
  readonly input: Omit<RenderInput, "secrets" | "contract" | "readBy">;
  /** Control planes, now or before, and the host of the endpoint. */
  readonly addresses: ReadonlySet<string>;
}

/** The record takes no longer one. */
const LONGEST_BOOT_ID = 64;

/** One reading: what may be kept, and the texts, which may not. */
export interface ConfigReading {
  readonly seen: KnownConfig;
  /** What is wanted. Holds keys. */
  readonly wanted: string;
  /** What is tried first of it, where the rest needs a boot. Holds keys. */
  readonly firstPart: string | undefined;
  /** What is in force. Holds keys. */
  readonly live: string;
}

/**
 * Reads a machine's configuration, in force and on disk, and compares it with what is wanted. Needs `os:admin`.
 *
 * @throws TalosError; ConfigError for a configuration that cannot be read; EffectError `PRECONDITION_GONE` when another machine answers
 */
export async function readConfig(
  client: TalosClient,
  question: ConfigQuestion,
  secrets: SecretsBundle,
  now: () => number,
  options: CallOptions,
): Promise<ConfigReading> {
  const [active, persisted, system, shownBoot, liveMeta, told] = await Promise.all([
    client.resources.get(resourceKinds.machineConfig, undefined, options),
    client.resources.get(resourceKinds.machineConfig, "persistent", options),
    question.uuid === "" && question.upgrades === undefined
      ? undefined
      : client.resources.get(resourceKinds.systemInformation, undefined, options),
    client.bootId(options),
    question.meta === undefined ? undefined : readMeta(client, options),
    question.upgrades === undefined ? undefined : readTalos(client, options),
  ]);
  if (question.uuid !== "" && system?.spec.uuid !== question.uuid)
    throw new EffectError("PRECONDITION_GONE", `another machine answers at the address of ${question.machine}`);
  if (active === undefined) throw new EffectError("PRECONDITION_GONE", `${question.machine} shows no configuration`);
  const bootId = bootIdOf(question, shownBoot);
  const live = active.spec.reveal();
  const { version } = question.input;
  const contract = question.contract ?? contractOfLive(version, question.input.controlPlane.version, live);
  const desired = renderMachineConfig({ ...question.input, readBy: undefined, contract, secrets });
  const runs = describeMachineConfig(live);
  const asks = desired === live ? runs : describeMachineConfig(desired);
  const isBootAsked = question.upgrades !== undefined || hasArguments(runs) || hasArguments(asks);
  const boot = isBootAsked ? await readBoot(client, runs, version, options) : undefined;
  const compare = (text: string): SendableConfig => sendableOf(question, desired, text, boot?.arguments.loader);
  const { wanted, changes, withheld } = compare(live);
  const talos = told ?? (lacksArguments(boot?.arguments) ? await readTalos(client, options) : undefined);
  const { firstPart, seen: guard } = guardOf({ wanted, live, changes }, placeOf(question));
  const install = installDifference(asks.install, runs.install, question.input);
  const components = componentDifferences(asks, runs, question.input.controlPlane.kubeVersion);
  const kubernetes = kubernetesOf(runs.images);
  const onDisk = persisted?.spec.reveal();
  const kindOfDisk = (): KnownConfig["onDisk"] => {
    if (onDisk === undefined) return "unknown";
    if (onDisk === live) return changes.length === 0 ? "wanted" : "active";
    return onDisk === wanted || compare(onDisk).changes.length === 0 ? "wanted" : "other";
  };
  return {
    wanted,
    firstPart,
    live,
    seen: {
      kind: "known",
      at: now(),
      settings: question.settings,
      bootId,
      version,
      ...(question.contract === undefined ? { contract } : {}),
      activeHash: hashOf(live),
      changes: changes.slice(0, MAX_CHANGES),
      ...guard,
      ...differingName(runs.hostname ?? hostnameInMeta(liveMeta), asks.hostname ?? hostnameInMeta(liveMeta)),
      ...(withheld.length === 0 ? {} : { withheld }),
      ...(kubernetes === undefined ? {} : { kubernetes }),
      ...(install === undefined ? {} : { install }),
      ...(components.length === 0 ? {} : { components }),
      ...(question.meta === undefined ? {} : { meta: seenMeta(question.meta, liveMeta, runs.hostname, question.address) }),
      ...(talos === undefined ? {} : { talos: { ...talos, ...boot?.firmware, ...hardwareOf(system?.spec) } }),
      ...(boot === undefined ? {} : { arguments: boot.arguments }),
      onDisk: kindOfDisk(),
      ...(onDisk === undefined ? {} : { diskHash: hashOf(onDisk) }),
    },
  };
}

/** The machine that the configuration is for. */
function placeOf({ address, addresses, input: { platform, version } }: ConfigQuestion): Parameters<typeof guardOf>[1] {
  return { platform, version, reachedAt: address, addresses };
}

/** @throws EffectError `PRECONDITION_GONE` when the machine reports no boot id */
function bootIdOf({ machine }: ConfigQuestion, shown: string): string {
  const bootId = reportedWord(shown.trim(), LONGEST_BOOT_ID);
  if (bootId === undefined) throw new EffectError("PRECONDITION_GONE", `${machine} reports no boot id`);
  return bootId;
}

/** What is left to send of a wanted configuration to a machine that has this text. */
function sendableOf(
  { addresses, input: { version } }: ConfigQuestion,
  desired: string,
  live: string,
  loader: SeenArguments["loader"],
): SendableConfig {
  const compare = (wish: string): ConfigComparison => {
    const { wanted, changes } = compareConfigs({ desired: wish, live, talosVersion: version, addresses });
    return { wanted, changes: changes.map((change) => withLoader(change, loader)) };
  };
  return withoutBarred(compare(desired), live, { version, compare });
}

/** @param fixed the host name of its configuration, which wins */
function seenMeta(wanted: WantedMeta, live: string | undefined, fixed: string | undefined, reachedAt: string): SeenMeta {
  const names = fixed === undefined ? differingName(hostnameInMeta(live), hostnameInMeta(wanted.text)) : {};
  const hazards = removedFromMeta(wanted.text, live, reachedAt);
  return { wanted: wanted.hash, live: metaHashOf(live), ...names, ...(hazards.length === 0 ? {} : { hazards }) };
}

/** The static network settings in a machine's META; `undefined` = the key is not set. */
export async function readMeta(client: TalosClient, options: CallOptions): Promise<string | undefined> {
  return (await client.resources.get(resourceKinds.metaKey, METAL_NETWORK_ID, options))?.spec.value;
}

/** What META says of another Talos on the machine. */
export async function readSlots(
  client: Pick<TalosClient, "resources">,
  options: CallOptions,
): Promise<Pick<SeenTalos, "fallback" | "isStaged">> {
  const read = async (id: string): Promise<string | undefined> =>
    (await client.resources.get(resourceKinds.metaKey, id, options))?.spec.value;
  const [fallback, image] = await Promise.all([read(metaId(META_KEYS.upgradeFallback)), read(metaId(META_KEYS.stagedImage))]);
  return { ...(fallback === undefined ? {} : { fallback: fallback.slice(0, LONGEST_LABEL) }), isStaged: image !== undefined };
}

/** What decides on another Talos, and shows it. */
async function readTalos(client: TalosClient, options: CallOptions): Promise<Omit<SeenTalos, "manufacturer" | "product">> {
  const [slots, build] = await Promise.all([readSlots(client, options), readBuild(client, options)]);
  return { ...slots, ...build };
}

/** By what it was started, and with what; each where it is told. */
async function readBoot(
  client: Pick<TalosClient, "resources">,
  { install }: MachineConfigFacts,
  version: string,
  options: CallOptions,
): Promise<{ readonly arguments: SeenArguments; readonly firmware: Pick<SeenTalos, "isSecureBoot"> }> {
  const [security, kernel] = await Promise.all([
    client.resources.get(resourceKinds.securityState, undefined, options),
    unlessDenied(client.resources.get(resourceKinds.kernelCmdline, undefined, options)),
  ]);
  return {
    arguments: seenArguments(install, version, security?.spec, kernel?.spec.cmdline),
    firmware: security?.spec.isSecureBoot === true ? { isSecureBoot: true } : {},
  };
}

/** Kernel arguments that the configuration of a machine names, and what of them runs. */
export async function readArguments(client: TalosClient, version: string, options: CallOptions): Promise<SeenArguments | undefined> {
  const config = await client.resources.get(resourceKinds.machineConfig, undefined, options);
  return config === undefined
    ? undefined
    : (await readBoot(client, describeMachineConfig(config.spec.reveal()), version, options)).arguments;
}

/** A Talos that lacks the resource tells nothing of it. */
async function unlessDenied<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (isTalosError(thrown, "PERMISSION_DENIED")) return undefined;
    throw thrown;
  }
}

/** What the configuration in force names does not run, and an installation would bring it. */
function lacksArguments(seen: SeenArguments | undefined): boolean {
  return seen?.bySettings === true && (seen.lacks ?? []).length > 0;
}

function hasArguments({ install }: MachineConfigFacts): boolean {
  return install.kernelArguments.length > 0;
}

/** What the Talos that runs was built from. */
export async function readBuild(
  client: Pick<TalosClient, "resources">,
  options: CallOptions,
): Promise<Pick<SeenTalos, "schematic" | "extensions">> {
  return reportedImage(await client.resources.list(resourceKinds.extensionStatus, options));
}

/** Characters of a boot label that are kept. */
const LONGEST_LABEL = 128;

function hardwareOf(system: SystemInformationSpec | undefined): Pick<SeenTalos, "manufacturer" | "product"> {
  const printable = (text = ""): string =>
    text
      .replaceAll(/[^\x20-\x7e]/g, "")
      .trim()
      .slice(0, LONGEST_LABEL);
  return { manufacturer: printable(system?.manufacturer), product: printable(system?.productName) };
}

/** Resources of META keys are named by the key in hex. */
function metaId(key: number): string {
  return `0x${key.toString(16).padStart(2, "0")}`;
}

const METAL_NETWORK_ID = metaId(META_KEYS.metalNetwork);

/** The version that every component is of; a machine in the middle of an upgrade, and one with a component of its own, tells none. */
function kubernetesOf({ kubelet, apiServer, controllerManager, scheduler }: MachineConfigFacts["images"]): string | undefined {
  const tags = new Set(
    [kubelet, apiServer, controllerManager, scheduler].flatMap((image) =>
      image === undefined ? [] : (/:([^:/@]+)$/.exec(image)?.[1] ?? ""),
    ),
  );
  const [tag] = tags;
  return kubelet !== undefined && tags.size === 1 && tryParseVersion(tag ?? "") !== undefined ? tag : undefined;
}

/** SHA-256 of a configuration text, in hex. */
function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The contract of a configuration that nobody wrote down: no newer than Talos was when it was made, as far as its documents tell. */
function contractOfLive(running: string, made: string, live: string): string {
  const { documents } = describeMachineConfig(live);
  const oldest = contractOf(running, made);
  const newest = documents.includes("v1alpha1/KubeClusterConfig/")
    ? "1.14"
    : documents.includes("v1alpha1/HostnameConfig/")
      ? "1.13"
      : "1.11";
  return compareContracts(newest, oldest) < 0 ? newest : oldest;
}
