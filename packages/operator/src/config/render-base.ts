import { load } from "js-yaml";
import { defaultInstallerImage, describeMachineConfig, generateMachineConfig, patchMachineConfig } from "@talos-operator/talos";
import type { MachineConfigInput } from "@talos-operator/talos";
import { foreignKeys } from "./config-base.ts";
import { ConfigRefusal } from "./refusal.ts";
import type { ConfigBase } from "../model/machine.ts";

/** Newest contract that has keys and identity in the document v1alpha1. */
const LAST_WITH_KEYS_INSIDE = "1.13";

/** What a text that a person wrote lacks, and is put in. */
export interface BaseInput {
  readonly base: ConfigBase;
  /** What the generator would make a config of this machine from. */
  readonly generator: MachineConfigInput;
  /** Chosen for this machine; `undefined` = none, or none is needed. */
  readonly installDisk: string | undefined;
  /** With its tag; `undefined` = as the text says. */
  readonly installImage: string | undefined;
  readonly version: string;
  readonly isContainer: boolean;
  /** False while only words stand in place of keys. */
  readonly hasKeys: boolean;
}

/**
 * The text that a person wrote, with what it leaves out of keys and identity put in, and with the disk that was chosen.
 *
 * @throws ConfigError for a text that cannot be read, ConfigRefusal for one that belongs to another cluster or role
 */
export function renderBase({ base, generator, installDisk, installImage, version, isContainer, hasKeys }: BaseInput): string {
  const text = base.text.reveal();
  const own = generateMachineConfig({ ...generator, contract: LAST_WITH_KEYS_INSIDE });
  const has = describeMachineConfig(text);
  const role = generator.role === "worker" ? "worker" : "controlplane";
  if (has.machineType !== undefined && base.machineType !== role)
    throw new ConfigRefusal(
      `${base.source} holds the config of a ${base.machineType ?? "machine of no type"}, and a ${role} needs another`,
    );
  const foreign = hasKeys ? foreignKeys(text, own) : [];
  if (foreign.length > 0)
    throw new ConfigRefusal(
      `${base.source} belongs to another cluster: ${foreign.join(", ")} are not this cluster's. Take them out of it, or make another cluster of it`,
    );
  const patches = [
    identityPatch(text, own, role),
    ...(hasKeys && base.endpoint !== undefined && base.endpoint !== generator.endpoint ? [endpointPatch(text, generator.endpoint)] : []),
    ...(isContainer ? [] : installPatch({ text, installDisk, installImage, version })),
  ];
  return patchMachineConfig(
    text,
    patches.map((patch) => JSON.stringify(patch)),
  );
}

/** Keys, tokens and identity that the text lacks, as the generator writes them. */
function identityPatch(text: string, own: string, role: "controlplane" | "worker"): object {
  const has = describeMachineConfig(text);
  // A worker knows the certificates of its authorities, not their keys.
  const known = (authority: { readonly certificate: string; readonly key: string | undefined } | undefined): string | undefined =>
    role === "worker" ? authority?.certificate : authority?.key;
  const [first = ""] = own.split(/^---$/m);
  const { machine, cluster } = load(first) as Readonly<Record<"machine" | "cluster", Readonly<Record<string, unknown>>>>;
  const missing = (values: readonly (readonly [key: string, there: unknown, own: unknown])[]): Record<string, unknown> =>
    Object.fromEntries(
      values.filter(([, there, from]) => (there === undefined || there === "") && from !== undefined).map(([key, , from]) => [key, from]),
    );
  const etcdCa = (cluster["etcd"] as { readonly ca?: unknown } | undefined)?.ca;
  return {
    machine: missing([
      ["type", has.machineType, machine["type"]],
      ["token", has.machineToken, machine["token"]],
      ["ca", known(has.osCa), machine["ca"]],
    ]),
    cluster: {
      ...missing([
        ["id", has.clusterId, cluster["id"]],
        ["secret", has.clusterSecret, cluster["secret"]],
        ["token", has.bootstrapToken, cluster["token"]],
        ["ca", known(has.kubernetesCa), cluster["ca"]],
        ["clusterName", has.clusterName, cluster["clusterName"]],
        ["controlPlane", has.endpoint, cluster["controlPlane"]],
        ["aggregatorCA", known(has.aggregatorCa), cluster["aggregatorCA"]],
        ["serviceAccount", has.serviceAccountKey, cluster["serviceAccount"]],
        ["etcd", known(has.etcdCa), etcdCa === undefined ? undefined : { ca: etcdCa }],
      ]),
      ...(has.secretboxEncryptionSecret === undefined && has.aescbcEncryptionSecret === undefined
        ? missing([
            ["secretboxEncryptionSecret", undefined, cluster["secretboxEncryptionSecret"]],
            ["aescbcEncryptionSecret", undefined, cluster["aescbcEncryptionSecret"]],
          ])
        : {}),
    },
  };
}

/** Another endpoint in the text is a wish: which one is in force stands in the record. */
function endpointPatch(text: string, endpoint: string): object {
  return describeMachineConfig(text).documents.includes("v1alpha1/KubeClusterConfig/")
    ? { apiVersion: "v1alpha1", kind: "KubeClusterConfig", endpoint }
    : { cluster: { controlPlane: { endpoint } } };
}

function installPatch({
  text,
  installDisk,
  installImage,
  version,
}: Pick<BaseInput, "installDisk" | "installImage" | "version"> & { readonly text: string }): readonly object[] {
  const { install, documents } = describeMachineConfig(text);
  const image = installImage ?? (install.image === undefined ? defaultInstallerImage(version) : undefined);
  const disk = installDisk === install.disk ? undefined : installDisk;
  if (image === undefined && disk === undefined) return [];
  const hasDocument = documents.includes("v1alpha1/UnattendedInstallConfig/") || documents.includes("v1alpha1/KubeClusterConfig/");
  if (!hasDocument)
    return [{ machine: { install: { ...(image === undefined ? {} : { image }), ...(disk === undefined ? {} : { disk }) } } }];
  return [
    {
      apiVersion: "v1alpha1",
      kind: "UnattendedInstallConfig",
      ...(image === undefined ? {} : { installer: { image } }),
      ...(disk === undefined ? {} : { provisioning: { diskSelector: { match: `disk.dev_path == ${JSON.stringify(disk)}` } } }),
    },
  ];
}
