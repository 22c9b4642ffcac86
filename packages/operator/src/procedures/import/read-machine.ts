import type { TalosControlPlaneSpec } from "@talos-operator/api";
import { describeMachineConfig, fingerprintSecretsBundle, secretsBundleFromMachineConfig } from "@talos-operator/talos";
import type { MachineConfigFacts, SecretsBundle } from "@talos-operator/talos";
import { resourceKinds } from "@talos-operator/talos/client";
import type { CallOptions, TalosClient } from "@talos-operator/talos/client";
import { configHashOf } from "../configure/config-hash.ts";
import { readConfig } from "../configure/read-config.ts";
import { EffectError } from "../../errors.ts";
import { LONGEST_UUID, reportedWord } from "../../looking/reported-words.ts";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { MachineReading } from "../../model/adoption.ts";

/** Whom to read, and what is compared. */
export interface MachineQuestion {
  readonly machine: DeclaredMachine;
  readonly clusterName: string;
  readonly spec: TalosControlPlaneSpec;
  /** Talos that runs. */
  readonly version: string;
  readonly platform: string | undefined;
  /** Of all control planes. */
  readonly addresses: readonly string[];
}

/**
 * Reads one machine's configuration for an import: who it is, which cluster it belongs to, and what would be written otherwise. Only reads; needs `os:admin`.
 *
 * @throws TalosError, ConfigError, EffectError `PRECONDITION_GONE`
 */
export async function readMachine(
  client: TalosClient,
  question: MachineQuestion,
  bundle: SecretsBundle,
  now: () => number,
  options: CallOptions,
): Promise<MachineReading> {
  const [config, system] = await Promise.all([
    client.resources.get(resourceKinds.machineConfig, undefined, options),
    client.resources.get(resourceKinds.systemInformation, undefined, options),
  ]);
  if (config === undefined) throw new EffectError("PRECONDITION_GONE", `${question.machine.name} shows no configuration`);
  const text = config.spec.reveal();
  const facts = describeMachineConfig(text);
  const { machine, spec, version, platform, addresses, clusterName } = question;
  const kubernetes = facts.kubernetesVersion === undefined ? "" : `v${facts.kubernetesVersion}`;
  const endpoint = facts.endpoint ?? "";
  const { seen } = await readConfig(
    client,
    {
      machine: machine.name,
      address: machine.address,
      uuid: "",
      settings: configHashOf(machine, spec),
      contract: undefined,
      addresses: new Set([...addresses, machine.address, hostOf(endpoint)]),
      input: {
        role: machine.role,
        clusterName,
        endpoint,
        controlPlane: { ...spec, version, ...(kubernetes === "" ? {} : { kubeVersion: kubernetes }) },
        machineSpec: machine.machineSpec,
        version,
        platform,
        installDisk: facts.install.disk,
        addresses: machine.role === "controlplane" ? [...addresses, hostOf(endpoint)] : [machine.address],
      },
    },
    bundle,
    now,
    options,
  );
  return {
    uuid: reportedWord(system?.spec.uuid, LONGEST_UUID) ?? "",
    machineType: facts.machineType === "init" ? "controlplane" : facts.machineType,
    clusterId: facts.clusterId ?? "",
    clusterName: facts.clusterName ?? "",
    endpoint,
    dnsDomain: facts.dnsDomain ?? "cluster.local",
    podSubnets: facts.podSubnets,
    serviceSubnets: facts.serviceSubnets,
    kubernetesVersion: kubernetes,
    installDisk: facts.install.disk,
    hasKeysOfBundle: hasKeys(text, facts, bundle),
    changes: seen.changes,
  };
}

/** A control plane holds the whole bundle, a worker its public part and the tokens. */
function hasKeys(text: string, facts: MachineConfigFacts, bundle: SecretsBundle): boolean {
  if (facts.machineType === "worker")
    return (
      facts.osCa?.certificate === bundle.certs.os.certificate &&
      facts.machineToken === bundle.trustdInfo.token &&
      facts.clusterSecret === bundle.cluster.secret
    );
  try {
    return fingerprintSecretsBundle(secretsBundleFromMachineConfig(text)) === fingerprintSecretsBundle(bundle);
  } catch {
    // A control plane without the whole bundle cannot have been made from it.
    return false;
  }
}

function hostOf(endpoint: string): string {
  return /^https?:\/\/\[?([^\]/]+?)\]?(:\d+)?\/?$/.exec(endpoint)?.[1] ?? endpoint;
}
