import { ConfigError } from "../config/errors.ts";
import { generateMachineConfig } from "../config/generate/generate.ts";
import type { MachineConfigInput, MachineRole, NetworkInterfaceInput, RegistryTlsInput } from "../config/generate/input.ts";
import { printDocuments } from "../config/document/print.ts";
import { generationOf, loadConfig, loadPatch, patchMachineConfig } from "../config/patch/patch.ts";
import { parseSecretsBundle } from "../secrets/parse.ts";
import { signClientCertificate } from "../talosconfig/client-certificate.ts";
import { printTalosconfig } from "../talosconfig/print.ts";
import { createTalosconfig } from "../talosconfig/talosconfig.ts";
import {
  compareRefusals,
  compareText,
  failed,
  passed,
  textOf,
  worstOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

/** What `hack/golden` is asked to generate configs from. */
export interface GenconfigInput {
  readonly cluster_name: string;
  readonly endpoint: string;
  readonly contract: string;
  readonly kubernetes_version: string;
  readonly secrets: unknown;
  readonly options: GenconfigOptions;
  readonly config_patch?: readonly string[];
  readonly config_patch_control_plane?: readonly string[];
  readonly config_patch_worker?: readonly string[];
}

export interface GenconfigOptions {
  readonly additional_sans?: readonly string[];
  readonly allow_scheduling_on_control_planes?: boolean;
  readonly cluster_discovery?: boolean;
  readonly cni?: MachineConfigInput["cni"];
  readonly debug?: boolean;
  readonly dns_domain?: string;
  readonly endpoints?: readonly string[];
  readonly hostdns_forward_kube_dns_to_host?: boolean;
  readonly install_disk?: string;
  readonly install_extra_kernel_args?: readonly string[];
  readonly install_image?: string;
  readonly kubeprism_port?: number;
  readonly kubespan?: boolean;
  readonly local_api_server_port?: number;
  readonly network?: readonly NetworkOption[];
  readonly registry_ca?: Readonly<Record<string, string>>;
  readonly registry_insecure?: readonly string[];
  readonly registry_mirrors?: readonly string[];
  readonly roles?: readonly string[];
  readonly skip_k8s_etcd?: boolean;
  readonly skip_unattended_install_config?: boolean;
  readonly sysctls?: Readonly<Record<string, string>>;
  readonly user_disks?: readonly {
    readonly device: string;
    readonly partitions: readonly { readonly mountpoint: string; readonly size?: string }[];
  }[];
}

export interface NetworkOption {
  readonly op: string;
  readonly iface?: string;
  readonly value?: string;
  readonly values?: readonly string[];
  readonly enable?: boolean;
  readonly mtu?: number;
}

/** Generates the configs of a case and its talosconfig. */
export async function runGenconfig(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const given = golden.input as unknown as GenconfigInput;
  const isGiven = given.contract !== undefined && given.contract !== "" && given.contract !== "current";
  // Without one the library takes its own.
  const input = isGiven ? given : { ...given, contract: /^v1\.\d+/.exec(golden.source)?.[0] ?? "v1.15" };
  const wantedError = golden.expected["error"] ?? golden.expected_newer?.["error"];
  const roles = (["controlplane", "worker", "init"] as const).filter((role) => golden.expected[role] !== undefined);
  try {
    const outcomes = roles.map((role) => compareText(configOf(input, role, context), textOf(golden.expected[role], context), role));
    if (golden.expected["talosconfig"] !== undefined) outcomes.push(await talosconfigOf(golden, input, context));
    if (golden.expected["error"] !== undefined) {
      configOf(input, "controlplane", context);
      configOf(input, "worker", context);
      return failed(`got configs, want the refusal ${JSON.stringify(golden.expected["error"])}`);
    }
    return worstOf(outcomes);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (typeof wantedError !== "string") return failed(error.message);
    // The texts of refused endpoints come from Go's URL parser; ours says the same in its own words. The command puts words before the others.
    return error.code === "INVALID_INPUT" || wantedError.endsWith(error.detail) ? passed : compareRefusals(error.detail, wantedError);
  }
}

function configOf(input: GenconfigInput, role: MachineRole, context: Pick<GoldenContext, "readFile">): string {
  const patches = [
    ...(input.config_patch ?? []),
    ...((role === "worker" ? input.config_patch_worker : input.config_patch_control_plane) ?? []),
  ];
  const generated = generateMachineConfig(machineConfigInput(input, role, context));
  const generation = generationOf(input.contract);
  const patched = patchMachineConfig(generated, patches, { contract: input.contract });
  // The generator prints what it has loaded: a JSON patch by itself leaves sorted text behind.
  const isLoaded = patches.length === 0 || loadPatch(patches.at(-1) ?? "", generation).kind !== "json";
  return isLoaded ? patched : printDocuments(loadConfig(patched, generation), generation);
}

/** The config of one role, without a talosconfig; secrets are given in place. */
export function generatedConfigs(input: GenconfigInput, role: MachineRole): string {
  return configOf(input, role, inPlace);
}

const inPlace: Pick<GoldenContext, "readFile"> = {
  readFile: (path) => {
    throw new Error(`the input refers to a file: ${path}`);
  },
};

async function talosconfigOf(golden: GoldenCase, input: GenconfigInput, context: GoldenContext): Promise<GoldenOutcome> {
  const authority = parseSecretsBundle(textOf(input.secrets, context)).certs.os;
  const { keys, now } = context;
  const pair = await signClientCertificate({
    keys,
    authority,
    notBefore: now,
    ...(input.options.roles === undefined ? {} : { roles: input.options.roles }),
  });
  const wanted = golden.expected["talosconfig_client_certificate"] as {
    subject_o: readonly string[];
    subject_cn: string;
    validity_hours: number;
  };
  const facts = keys.describeCertificate(pair.certificate);
  const hours = (facts.notAfter - facts.notBefore) / 3_600_000;
  if (facts.organizations.join() !== wanted.subject_o.join() || (facts.commonName ?? "") !== wanted.subject_cn)
    return failed("the client certificate has another subject");
  if (Math.abs(hours - wanted.validity_hours) > 0.01) return failed(`the client certificate is valid for ${hours} h`);
  const talosconfig = createTalosconfig({
    clusterName: input.cluster_name,
    endpoints: input.options.endpoints ?? [],
    ca: authority.certificate,
    ...pair,
  });
  const text = printTalosconfig(talosconfig).replace(/^( *(?:crt|key)): .*$/gm, "$1: <random>");
  return compareText(text, textOf(golden.expected["talosconfig"], context), "talosconfig");
}

function machineConfigInput(input: GenconfigInput, role: MachineRole, context: Pick<GoldenContext, "readFile">): MachineConfigInput {
  const { options } = input;
  return withoutAbsent({
    role,
    clusterName: input.cluster_name,
    endpoint: input.endpoint,
    contract: input.contract,
    kubernetesVersion: input.kubernetes_version,
    secrets: parseSecretsBundle(textOf(input.secrets, context)),
    install: withoutAbsent({
      disk: options.install_disk,
      image: options.install_image,
      extraKernelArgs: options.install_extra_kernel_args,
      unattended: options.skip_unattended_install_config === true ? false : undefined,
    }),
    additionalSans: options.additional_sans,
    dnsDomain: options.dns_domain,
    cni: options.cni,
    allowSchedulingOnControlPlanes: options.allow_scheduling_on_control_planes,
    discovery: options.cluster_discovery,
    localApiServerPort: options.local_api_server_port,
    kubePrismPort: options.kubeprism_port,
    // The genuine option can only switch it on.
    forwardKubeDnsToHost: options.hostdns_forward_kube_dns_to_host === true ? true : undefined,
    kubeSpan: options.kubespan,
    registryMirrors: mirrorsOf(options.registry_mirrors ?? []),
    registryTls: tlsOf(options),
    sysctls: options.sysctls,
    debug: options.debug,
    withoutKubernetes: options.skip_k8s_etcd,
    network: options.network === undefined ? undefined : networkOf(options.network),
    userDisks: options.user_disks?.map(({ device, partitions }) => ({
      device,
      partitions: partitions.map(({ mountpoint, size }) =>
        withoutAbsent({ mountpoint, sizeBytes: size === undefined ? undefined : gigabytes(size) }),
      ),
    })),
  });
}

function mirrorsOf(options: readonly string[]): Record<string, string[]> {
  const mirrors: Record<string, string[]> = {};
  for (const option of options) {
    const at = option.indexOf("=");
    (mirrors[option.slice(0, at)] ??= []).push(option.slice(at + 1));
  }
  return mirrors;
}

function tlsOf({ registry_ca: authorities = {}, registry_insecure: insecure = [] }: GenconfigOptions): Record<string, RegistryTlsInput> {
  const tls: Record<string, RegistryTlsInput> = {};
  for (const [host, ca] of Object.entries(authorities)) tls[host] = { ca };
  for (const host of insecure) tls[host] = { ...tls[host], insecureSkipVerify: true };
  return tls;
}

function networkOf(options: readonly NetworkOption[]): NonNullable<MachineConfigInput["network"]> {
  const interfaces = new Map<string, NetworkInterfaceInput>();
  let nameservers: readonly string[] = [];
  let kubeSpan = false;
  for (const { op, iface = "", value, values, enable, mtu } of options) {
    if (op === "nameservers") {
      nameservers = [...nameservers, ...(values ?? [])];
      continue;
    }
    if (op === "kubespan") {
      kubeSpan = true;
      continue;
    }
    const link: NetworkInterfaceInput = interfaces.get(iface) ?? { name: iface };
    const change = {
      cidr: { addresses: [...(link.addresses ?? []), value] },
      mtu: { mtu },
      vip: { vip: value },
      ignore: { ignore: true },
      // The genuine option cannot switch it off.
      dhcp: { dhcp: true },
    }[op] ?? { [op]: enable };
    interfaces.set(iface, { ...link, ...change } as NetworkInterfaceInput);
  }
  return { nameservers, interfaces: [...interfaces.values()], ...(kubeSpan ? { kubeSpan } : {}) };
}

function gigabytes(size: string): number {
  return Number(size.replace("GB", "")) * 1e9;
}

/** Members that are `undefined` left out, for types whose optional members may not be. */
function withoutAbsent<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
