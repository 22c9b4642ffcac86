import { createHash } from "node:crypto";
import { compareContracts, describeMachineConfig } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { resourceKinds } from "@talos-operator/talos/client";
import type { CallOptions, TalosClient } from "@talos-operator/talos/client";
import { compareConfigs } from "../../config/compare.ts";
import { contractOf, renderMachineConfig } from "../../config/render.ts";
import type { RenderInput } from "../../config/render.ts";
import { EffectError } from "../../errors.ts";
import { MAX_CHANGES } from "./seen-config.ts";
import type { KnownConfig } from "./seen-config.ts";

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
  /** `version` is the one that runs. */
  readonly input: Omit<RenderInput, "secrets" | "contract" | "readBy">;
  /** Control planes, now or before, and the host of the endpoint. */
  readonly addresses: ReadonlySet<string>;
}

/** One reading: what may be kept, and the two texts, which may not. */
export interface ConfigReading {
  readonly seen: KnownConfig;
  /** What would be sent. Holds keys. */
  readonly wanted: string;
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
  const [active, persisted, system, bootId] = await Promise.all([
    client.resources.get(resourceKinds.machineConfig, undefined, options),
    client.resources.get(resourceKinds.machineConfig, "persistent", options),
    question.uuid === "" ? undefined : client.resources.get(resourceKinds.systemInformation, undefined, options),
    client.bootId(options),
  ]);
  if (question.uuid !== "" && system?.spec.uuid !== question.uuid)
    throw new EffectError("PRECONDITION_GONE", `another machine answers at the address of ${question.machine}`);
  if (active === undefined) throw new EffectError("PRECONDITION_GONE", `${question.machine} shows no configuration`);
  const live = active.spec.reveal();
  const { version } = question.input;
  const desired = renderMachineConfig({
    ...question.input,
    readBy: undefined,
    contract: question.contract ?? contractOfLive(version, question.input.controlPlane.version, live),
    secrets,
  });
  const compare = (text: string): ReturnType<typeof compareConfigs> =>
    compareConfigs({ desired, live: text, talosVersion: version, addresses: question.addresses });
  const { wanted, changes } = compare(live);
  const onDisk = persisted?.spec.reveal();
  const isWantedOnDisk = (): boolean =>
    onDisk === live ? changes.length === 0 : onDisk === wanted || compare(onDisk ?? "").changes.length === 0;
  return {
    wanted,
    seen: {
      kind: "known",
      at: now(),
      settings: question.settings,
      bootId: bootId.trim(),
      version,
      activeHash: hashOf(live),
      changes: changes.slice(0, MAX_CHANGES),
      onDisk: onDisk === undefined ? "unknown" : isWantedOnDisk() ? "wanted" : "other",
    },
  };
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
