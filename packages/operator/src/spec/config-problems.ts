import { clusterNetworks, holdsAddress } from "@talos-operator/api";
import type { Finding, MachineSpec, TalosControlPlaneSpec } from "@talos-operator/api";
import { compareContracts, contractFor } from "@talos-operator/talos";
import { checkConfig } from "../config/check.ts";
import type { ConfigCheck, Trouble } from "../config/check.ts";
import { wantedDisk } from "../config/wanted-disk.ts";
import { imageProblem } from "./image-problems.ts";
import type { SpecOptions } from "./spec-options.ts";
import type { DeclaredMachine } from "../model/machine.ts";

/** A reference gives its address later; any will do to see whether a configuration can be made. */
const ANY_ADDRESS = "192.0.2.1";

/** Most further machines that a message names. */
const MOST_FIELDS = 3;

/**
 * What is wrong with the configs that these machines would get: none can be made, or a patch in it asks for what cannot be.
 *
 * @param contract that the configs of the pool are written for; absent = that of the version, as for a pool that has no machines yet
 * @param pool what all its machines share, at the path `spec.metalSpec.machineSpec`; absent = they belong to none
 */
export function configProblems(
  machines: readonly DeclaredMachine[],
  controlPlane: TalosControlPlaneSpec,
  clusterName: string,
  { installerRegistries }: SpecOptions,
  contract?: string,
  pool?: MachineSpec,
): readonly Finding[] {
  // Machines that share all settings give the same answer: one rendering for each distinct set.
  const checked = new Map<string, ConfigCheck>();
  const problems = machines.flatMap(({ role, version, machineSpec, field, address }): readonly Finding[] => {
    const key = JSON.stringify([role, version, machineSpec]);
    const check = checked.get(key) ?? checkOf({ role, version, machineSpec, address }, controlPlane, clusterName, contract);
    checked.set(key, check);
    if (check.kind === "trouble") return [troubled(check, field, pool)];
    const image = check.installImage === undefined ? undefined : imageProblem(check.installImage, installerRegistries);
    if (image !== undefined)
      return [{ field, message: `the installer in its machine config: ${image[0]}`, remedy: image[1], reason: "InvalidConfig" }];
    // A patch may have moved the networks to where the machines are.
    return (
      clusterNetworks({ podCIDR: check.podSubnets, serviceCIDR: check.serviceSubnets })
        // One that a reference gives later is held against them then.
        .filter((network) => address !== "" && holdsAddress(network, address))
        .map(({ text, use }) => ({
          field: `${field}.address`,
          message: `${address} lies in ${text}, the network of ${use} in the machine's config: etcd would wait for an address outside it for ever`,
          remedy: "Move the machine, or change the patch that sets this network",
          reason: "AddressInClusterRange",
        }))
    );
  });
  return toldOnce(problems);
}

/** At the entry that a person wrote, where the trouble is in one: those of the pool come before those of the machine. */
function troubled({ entry, words, advice }: Trouble, field: string, pool: MachineSpec | undefined): Finding {
  const reason = "InvalidConfig";
  if (entry === undefined) {
    const remedy = advice ?? "Correct it in configPatches, additionalConfig, registries, cni or clusterDomain";
    return { field, message: `no machine config can be made: ${words}`, remedy, reason };
  }
  const shared = pool?.[entry.list]?.length ?? 0;
  const place =
    entry.index < shared ? `spec.metalSpec.machineSpec.${entry.list}[${entry.index}]` : `${field}.${entry.list}[${entry.index - shared}]`;
  return { field: place, message: words, remedy: advice ?? "Correct this entry", reason };
}

/** What rendering the config of one machine finds out. */
export function checkOf(
  { role, version, machineSpec, address: given }: Pick<DeclaredMachine, "role" | "version" | "machineSpec" | "address">,
  controlPlane: TalosControlPlaneSpec,
  clusterName: string,
  contract: string | undefined,
): ConfigCheck {
  const address = given === "" ? ANY_ADDRESS : given;
  const endpoint = controlPlane.endpoint ?? `https://${address.includes(":") ? `[${address}]` : address}:6443`;
  const shared = { role, clusterName, endpoint, controlPlane, machineSpec, version, contract: readable(contract, version) };
  return checkConfig({
    ...shared,
    readBy: undefined,
    platform: "metal",
    installDisk: wantedDisk(machineSpec) ?? "/dev/sda",
    addresses: [address],
  });
}

/** Whether a Talos reads what configurations are written for is a question of its way there, and no other contract is held against it. */
function readable(contract: string | undefined, version: string): string | undefined {
  return contract !== undefined && compareContracts(contract, contractFor(version)) > 0 ? undefined : contract;
}

/** What is wrong with several machines alike, as with a patch of their pool, is told once, at the first of them. */
function toldOnce(problems: readonly Finding[]): readonly Finding[] {
  return [...Map.groupBy(problems, ({ message, remedy }) => JSON.stringify([message, remedy])).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const elsewhere = [...new Set(others.map(({ field }) => field))].filter((field) => field !== first.field);
    if (elsewhere.length === 0) return first;
    const more = elsewhere.length - MOST_FIELDS;
    const fields = elsewhere.slice(0, MOST_FIELDS);
    return { ...first, message: `${first.message} (alike: ${fields.join(", ")}${more > 0 ? ` and ${more} more` : ""})` };
  });
}
