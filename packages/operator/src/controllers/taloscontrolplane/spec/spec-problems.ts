import {
  canonicalAddress,
  clusterNetworks,
  holdsAddress,
  machineAddresses,
  parseEndpoint,
  quote,
  validateControlPlaneSpec,
  validateWorkerSpec,
} from "@talos-operator/api";
import type {
  Finding,
  HostOptions,
  MachineAddress,
  TalosControlPlane,
  TalosControlPlaneSpec,
  TalosMachine,
  TalosWorker,
  TalosWorkerSpec,
} from "@talos-operator/api";
import { compareContracts, contractFor, supportsKubernetes, tryParseVersion } from "@talos-operator/talos";
import { checkConfig } from "../../../config/check.ts";
import type { ConfigCheck } from "../../../config/check.ts";
import { hasUnusedAddressSettings, metaProblems } from "../../../config/meta-network.ts";
import type { ResolvedConfig } from "../../../references/config-references.ts";
import { isSupportedTalos, SUPPORTED_TALOS } from "../../../config/supported-versions.ts";
import { wantedDisk } from "../../../config/wanted-disk.ts";
import { unknownModeField } from "../../shared/mode.ts";
import { isObjectName, machinesOf } from "./declared.ts";
import type { DeclaredMachine } from "../model.ts";

/** Far beyond any config, and far below what recursion survives; an API server lets 10,000 levels pass. */
const MAX_DEPTH = 100;

const TOO_DEEP: Finding = {
  field: "spec.metalSpec",
  message: `configPatches, additionalConfig or registries nest deeper than ${MAX_DEPTH} levels`,
  remedy: "Make them flatter",
  reason: "InvalidConfig",
};

/** Names of Secrets and machines are made from a pool's name: an IPv6 address behind it must still fit into 253 characters. */
const MAX_NAME = 200;

/** What specs are held to beside their own rules. */
export interface SpecOptions extends HostOptions {
  /** Registries, or beginnings of image names, that installers may come from. Default: any. */
  readonly installerRegistries?: readonly string[];
}

/** What is wrong with a control plane, found without asking anyone; every finding names field and remedy. */
export function controlPlaneProblems(
  controlPlane: TalosControlPlane,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config?: ResolvedConfig,
): readonly Finding[] {
  return foundBefore(controlPlane, { others, options, config }, () => problemsOfControlPlane(controlPlane, others, options, config));
}

function problemsOfControlPlane(
  controlPlane: TalosControlPlane,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config: ResolvedConfig | undefined,
): readonly Finding[] {
  const { spec, metadata } = controlPlane;
  if (spec === undefined) return [{ field: "spec", message: "it is missing", remedy: "Describe the control plane", reason: "SpecMissing" }];
  if (isTooDeep(spec)) return [TOO_DEEP];
  const problems = [
    ...nameProblems(metadata.name),
    ...validateControlPlaneSpec(spec, { ...options, others }),
    ...baseProblems(spec, "controlplane", config),
    ...referenceProblems(spec),
    ...imageProblems(spec, options),
    ...poolMetaProblems(spec),
    ...versionProblems(spec.version, spec.kubeVersion, ""),
  ];
  if (problems.length > 0 || isUnread(spec, config)) return problems;
  return configProblems(machinesOf(controlPlane, { config: () => config }), spec, metadata.name, options);
}

/** What is wrong with a worker pool, given its control plane. */
export function workerProblems(
  worker: TalosWorker,
  controlPlane: TalosControlPlane | undefined,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config?: ResolvedConfig,
): readonly Finding[] {
  return foundBefore(worker, { others, options, config, controlPlane }, () =>
    problemsOfWorker(worker, controlPlane, others, options, config),
  );
}

function problemsOfWorker(
  worker: TalosWorker,
  controlPlane: TalosControlPlane | undefined,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config: ResolvedConfig | undefined,
): readonly Finding[] {
  const { spec } = worker;
  if (spec === undefined) return [{ field: "spec", message: "it is missing", remedy: "Describe the worker pool", reason: "SpecMissing" }];
  if (isTooDeep(spec)) return [TOO_DEEP];
  const known = controlPlane?.spec === undefined ? {} : { controlPlane: { name: controlPlane.metadata.name, spec: controlPlane.spec } };
  const problems = [
    ...nameProblems(worker.metadata.name),
    ...validateWorkerSpec(spec, { ...options, ...known, others }),
    ...baseProblems(spec, "worker", config),
    ...referenceProblems(spec),
    ...imageProblems(spec, options),
    ...poolMetaProblems(spec),
    ...versionProblems(spec.version, controlPlane?.spec?.kubeVersion ?? spec.kubeVersion, ""),
  ];
  return problems.length > 0 || controlPlane?.spec === undefined || isUnread(spec, config)
    ? problems
    : configProblems(machinesOf(worker, { config: () => config }), controlPlane.spec, controlPlane.metadata.name, options);
}

function nameProblems(name: string): readonly Finding[] {
  if (name.length <= MAX_NAME) return [];
  const message = `its ${name.length} characters leave no room for the names of Secrets and machines that are made from it`;
  return [{ field: "metadata.name", message, remedy: `Choose a name of at most ${MAX_NAME} characters`, reason: "InvalidConfig" }];
}

/** What the problems of a pool depend on beside the pool. */
interface Circumstances {
  readonly others: readonly MachineAddress[];
  readonly options: SpecOptions;
  readonly config: ResolvedConfig | undefined;
  readonly controlPlane?: TalosControlPlane | undefined;
}

interface Answer extends Circumstances {
  readonly problems: readonly Finding[];
}

/** The last answer about a pool. Objects of caches are replaced and never changed, and most passes ask again about the same one. */
const lastAnswers = new WeakMap<TalosControlPlane | TalosWorker, Answer>();

/** The last answers by name: a status that is written, and a child that is yet to be made, is another object of the same spec. For each process apart. */
const lastWritten = new WeakMap<SpecOptions, Map<string, { readonly text: string; readonly answer: Answer }>>();

/** Pools whose last answer is kept by name. */
const MOST_WRITTEN = 1_000;

/** All of a pool that its problems depend on. */
function textOf({ kind, metadata, spec }: TalosControlPlane | TalosWorker): string {
  return JSON.stringify([kind, metadata.namespace, metadata.name, metadata.ownerReferences, spec]);
}

function writtenOf(options: SpecOptions): Map<string, { readonly text: string; readonly answer: Answer }> {
  const known = lastWritten.get(options) ?? new Map<string, { readonly text: string; readonly answer: Answer }>();
  lastWritten.set(options, known);
  if (known.size > MOST_WRITTEN) known.clear();
  return known;
}

function foundBefore(
  pool: TalosControlPlane | TalosWorker,
  { others, options, config, controlPlane }: Circumstances,
  find: () => readonly Finding[],
): readonly Finding[] {
  const last = lastAnswers.get(pool);
  if (last?.options === options && last.config === config && last.controlPlane === controlPlane && areSame(last.others, others))
    return last.problems;
  // What is too deep to be read is too deep to be printed, and found at once.
  if (isTooDeep(pool.spec) || isTooDeep(controlPlane?.spec)) return find();
  const text = `${textOf(pool)} ${controlPlane === undefined ? "" : textOf(controlPlane)}`;
  const written = writtenOf(options);
  const name = `${pool.kind} ${pool.metadata.namespace ?? ""}/${pool.metadata.name}`;
  const before = written.get(name);
  const isSame = before?.text === text && before.answer.config === config && areSame(before.answer.others, others);
  const problems = isSame ? before.answer.problems : find();
  const answer = { others, options, config, controlPlane, problems };
  lastAnswers.set(pool, answer);
  written.set(name, { text, answer });
  return problems;
}

function areSame(before: readonly MachineAddress[], now: readonly MachineAddress[]): boolean {
  return (
    before.length === now.length &&
    now.every(({ field, address, object }, index) => {
      const other = before[index];
      return other?.field === field && other.address === address && other.object === object;
    })
  );
}

/** What is wrong with a TalosMachine that a person made, given its cluster. */
export function handMadeProblems(
  machine: DeclaredMachine,
  { spec, metadata }: TalosControlPlane,
  options: SpecOptions,
): readonly Finding[] {
  if (spec === undefined) return [];
  const field = `TalosMachine/${machine.name} spec.machineSpec`;
  if (isTooDeep(machine.machineSpec)) return [{ ...TOO_DEEP, field }];
  const versions = versionProblems(machine.version, spec.kubeVersion, `TalosMachine/${machine.name} `);
  const meta = metaProblems(machine.machineSpec.meta, `${field}.meta`, [machine.address]);
  if (meta.length > 0) return meta;
  return versions.length > 0 ? versions : configProblems([{ ...machine, field }], spec, metadata.name, options);
}

/** Findings of a worker that concern the whole cluster while it is made: an address that cannot be, or is someone else's. */
export function concernsCluster(finding: Finding): boolean {
  return finding.reason === "DuplicateAddress" || finding.reason === "AddressInClusterRange" || finding.reason === "InvalidAddress";
}

/** Addresses of a pool with the object they stand in. */
export function addressesOf(pool: TalosControlPlane | TalosWorker): readonly MachineAddress[] {
  return pool.spec === undefined ? [] : machineAddresses(pool.spec, `${pool.kind}/${pool.metadata.name}`);
}

/** The same of a pool of another cluster, which may be in another namespace. */
export function addressesElsewhere(pool: TalosControlPlane | TalosWorker): readonly MachineAddress[] {
  return pool.spec === undefined ? [] : machineAddresses(pool.spec, fullName(pool));
}

/** `TalosWorker namespace/name`, for messages. */
export function fullName({ kind, metadata }: TalosControlPlane | TalosWorker | TalosMachine): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Where the Kubernetes API of a cluster is to be found, in one spelling, for finding clusters that name the same place. */
export function endpointPlaces({ spec }: TalosControlPlane): readonly string[] {
  const endpoint = spec?.endpoint === undefined ? undefined : parseEndpoint(spec.endpoint);
  return endpoint === undefined || !("host" in endpoint) ? [] : [JSON.stringify([endpoint.host, endpoint.port])];
}

/** The addresses of a pool in their one spelling, for finding pools that share one. */
export function canonicalAddressesOf(pool: TalosControlPlane | TalosWorker): readonly string[] {
  const known = canonicalAddresses.get(pool);
  if (known !== undefined) return known;
  const addresses = addressesOf(pool).map(({ address }) => canonicalAddress(address));
  canonicalAddresses.set(pool, addresses);
  return addresses;
}

const canonicalAddresses = new WeakMap<TalosControlPlane | TalosWorker, readonly string[]>();

/** Fields that are set, have no effect in this release, and do not change which cluster is made. */
export function inertFieldsOf(pool: TalosControlPlane | TalosWorker): readonly string[] {
  const { spec } = pool;
  const inert = [...unknownModeField(pool.metadata)];
  if (spec === undefined || spec.mode !== "metal") return inert;
  // The schema gives workers replicas: 1, which says nothing about the author.
  if (spec.replicas !== undefined && (pool.kind === "TalosControlPlane" || spec.replicas !== 1)) inert.push("spec.replicas");
  if (spec.storageClassName !== undefined) inert.push("spec.storageClassName");
  if (spec.metalSpec?.machineSpec?.imageCache === true && isBefore19(spec.version)) inert.push("spec.metalSpec.machineSpec.imageCache");
  inert.push(...inertMeta(spec), ...overruledFields(spec), ...inertLimit(spec));
  (spec.metalSpec?.machines ?? []).forEach((machine, index) => {
    if (machine.pxeClientSpec !== undefined) inert.push(`spec.metalSpec.machines[${index}].pxeClientSpec`);
  });
  if ("cni" in spec && spec.cni?.name !== "custom" && (spec.cni?.urls?.length ?? 0) > 0) inert.push("spec.cni.urls");
  return inert;
}

/** Settings for META that no machine can have: a host name for several, and an address where there is only a name. */
function inertMeta(spec: TalosControlPlaneSpec | TalosWorkerSpec): readonly string[] {
  const { machines = [], machineSpec: { meta } = {} } = spec.metalSpec ?? {};
  if (meta === undefined) return [];
  const field = "spec.metalSpec.machineSpec.meta";
  const isNamed = machines.some(({ address }) => address !== undefined && hasUnusedAddressSettings(meta, address));
  return [
    ...(machines.length > 1 && meta.hostname !== undefined && meta.hostname !== "" ? [`${field}.hostname (of one machine only)`] : []),
    ...(isNamed ? [`${field}.interface, subnet and gateway of machines that are named by DNS`] : []),
  ];
}

/** A limit that is neither a count of machines nor a share of them: one machine at a time is what happens then. */
function inertLimit({ rolloutStrategy }: TalosControlPlaneSpec | TalosWorkerSpec): readonly string[] {
  const limit = rolloutStrategy?.rollingUpdate?.maxUnavailable;
  if (limit === undefined || /^0*[1-9]\d*%?$/.test(String(limit))) return [];
  return [
    `spec.rolloutStrategy.rollingUpdate.maxUnavailable: ${JSON.stringify(limit).slice(0, 40)} (taken as 1; write a count or a share such as 25%)`,
  ];
}

/** Talos has an image cache from 1.9 on. */
function isBefore19(version: string): boolean {
  return tryParseVersion(version) !== undefined && compareContracts(contractFor(version), "1.9") < 0;
}

/** True for a `configRef` that nobody read, as in objects that only hold the spec. */
function isUnread({ configRef }: TalosControlPlaneSpec | TalosWorkerSpec, config: ResolvedConfig | undefined): boolean {
  return (configRef?.name ?? "") !== "" && config === undefined;
}

/** What is wrong with the whole config that `configRef` names; what the cluster's keys say to it is found out when there are any. */
function baseProblems(
  spec: TalosControlPlaneSpec | TalosWorkerSpec,
  role: "controlplane" | "worker",
  config: ResolvedConfig | undefined,
): readonly Finding[] {
  if ((spec.configRef?.name ?? "") === "" || config === undefined || config.kind === "none") return [];
  const finding = (message: string, remedy: string, reason: Finding["reason"]): readonly Finding[] => [
    { field: "spec.configRef", message, remedy, reason },
  ];
  if (config.kind === "problem") return finding(config.message, config.remedy, config.reason);
  const { base } = config;
  if (base.machineType !== undefined && base.machineType !== role)
    return finding(
      `${base.source} holds the config of a ${base.machineType}, and this object needs that of a ${role}`,
      "Name the other one",
      "InvalidConfig",
    );
  if (
    "endpoint" in spec &&
    spec.endpoint !== undefined &&
    spec.endpoint !== "" &&
    base.endpoint !== undefined &&
    base.endpoint !== spec.endpoint
  )
    return finding(
      `${base.source} names another endpoint than spec.endpoint`,
      "Make them agree, or remove spec.endpoint",
      "ClusterMismatch",
    );
  if (role === "controlplane" && base.keys.length > 0 && base.fingerprint === undefined)
    return finding(
      `${base.source} holds some of a cluster's keys and not all of them (${base.keys.slice(0, 8).join(", ")})`,
      "Put all of them in, or take them all out: the operator fills in the cluster's own",
      "InvalidConfig",
    );
  return [];
}

/** Fields that say nothing beside a whole config, which says the same in its own words. */
function overruledFields(spec: TalosControlPlaneSpec | TalosWorkerSpec): readonly string[] {
  if ((spec.configRef?.name ?? "") === "") return [];
  const { machineSpec = {} } = spec.metalSpec ?? {};
  const shared = (["registries", "airGap", "imageCache", "allowSchedulingOnControlPlanes", "wipe"] as const)
    .filter((key) => machineSpec[key] !== undefined && machineSpec[key] !== false)
    .map((key) => `spec.metalSpec.machineSpec.${key}`);
  const { cni, podCIDR, serviceCIDR, clusterDomain }: Partial<TalosControlPlaneSpec> = spec;
  const own = Object.entries({
    cni,
    podCIDR,
    serviceCIDR,
    // The schema gives every control plane this one, which says nothing about the author.
    clusterDomain: clusterDomain === "cluster.local" ? undefined : clusterDomain,
  }).flatMap(([key, value]) => (value === undefined ? [] : [`spec.${key}`]));
  return [...own, ...shared].map((field) => `${field} (configRef says it)`);
}

function poolMetaProblems({ metalSpec }: TalosControlPlaneSpec | TalosWorkerSpec): readonly Finding[] {
  const addresses = (metalSpec?.machines ?? []).flatMap(({ address }) => address ?? []);
  return metaProblems(metalSpec?.machineSpec?.meta, "spec.metalSpec.machineSpec.meta", addresses);
}

/** Longest image reference that is taken, in characters. */
const MAX_IMAGE = 512;

/**
 * `registry/path`, `:tag`, `@sha256:…`, as registries take them: what is none would only be found out on the machine.
 *
 * @see distribution/reference `regexp.go`
 */
const IMAGE =
  /^[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d{1,5})?(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)+(?::(?<tag>\w[\w.-]{0,127}))?(?:@sha256:[0-9a-f]{64})?$/;

/** What is wrong with an installer image; `undefined` = nothing that can be told from here. */
function imageProblem(image: string, registries: readonly string[] | undefined): readonly [message: string, remedy: string] | undefined {
  const example = "Write it as ghcr.io/siderolabs/installer:v1.13.9, or with a digest";
  if (image.length > MAX_IMAGE) return [`it is longer than ${MAX_IMAGE} characters`, example];
  const match = IMAGE.exec(image);
  if (match === null) return [`${quote(image)} is no image`, example];
  if (match.groups?.["tag"] === "latest" && !image.includes("@"))
    return [
      `${quote(image)} is another image tomorrow`,
      "Name a version or a digest: a machine that joins later must get what the others run",
    ];
  if (registries !== undefined && !registries.some((registry) => isIn(image, registry)))
    return [
      `${quote(image)} is from a registry that this operator takes no installer from`,
      `Use one of ${registries.slice(0, 8).join(", ")}, or have it added to --installer-registries`,
    ];
  return undefined;
}

/** The registry, or the beginning of the path, with whole parts of names. */
function isIn(image: string, registry: string): boolean {
  const whole = registry.replace(/\/+$/, "");
  return image === whole || ["/", ":", "@"].some((end) => image.startsWith(`${whole}${end}`));
}

/** Installer images of the pool and of single machines. */
function imageProblems(spec: TalosControlPlaneSpec | TalosWorkerSpec, { installerRegistries }: SpecOptions): readonly Finding[] {
  const images = [
    { field: "spec.metalSpec.machineSpec.image", image: spec.metalSpec?.machineSpec?.image },
    ...(spec.metalSpec?.machines ?? []).map(({ image }, index) => ({ field: `spec.metalSpec.machines[${index}].image`, image })),
  ];
  return images.flatMap(({ field, image }): readonly Finding[] => {
    const problem = image === undefined || image === "" ? undefined : imageProblem(image, installerRegistries);
    return problem === undefined ? [] : [{ field, message: problem[0], remedy: problem[1], reason: "InvalidConfig" }];
  });
}

/** References without a name that a machine could be called by, and two that give machines one name. What they lead to is found out later. */
function referenceProblems(spec: TalosControlPlaneSpec | TalosWorkerSpec): readonly Finding[] {
  const names = new Map<string, number>();
  return (spec.metalSpec?.machines ?? []).flatMap(({ machineRef }, index): readonly Finding[] => {
    if (machineRef === undefined) return [];
    const field = `spec.metalSpec.machines[${index}].machineRef.name`;
    const { name } = machineRef;
    if (!isObjectName(name))
      return [
        {
          field,
          message: name === undefined || name === "" ? "it names no object" : `${quote(name)} is no name of an object`,
          remedy: "Write the name of the object that knows the machine's address",
          reason: "ReferenceInvalid",
        },
      ];
    const first = names.get(name);
    if (first === undefined) {
      names.set(name, index);
      return [];
    }
    return [
      {
        field,
        message: `${quote(name)} is named by entry ${first} too, and both machines would have one name`,
        remedy: "Name each object once, or put one of the two into another pool",
        reason: "NameConflict",
      },
    ];
  });
}

function versionProblems(talos: string, kubernetes: string, prefix: string): readonly Finding[] {
  const unsupported = (field: string, message: string, remedy: string): Finding => ({
    field: `${prefix}${field}`,
    message,
    remedy,
    reason: "VersionUnsupported",
  });
  if (tryParseVersion(talos) === undefined)
    return [unsupported("spec.version", `${JSON.stringify(talos.slice(0, 64))} is no version`, "Write it as v1.13.0")];
  if (tryParseVersion(kubernetes) === undefined)
    return [unsupported("spec.kubeVersion", `${JSON.stringify(kubernetes.slice(0, 64))} is no version`, "Write it as v1.35.0")];
  if (!isSupportedTalos(talos))
    return [
      unsupported(
        "spec.version",
        `Talos ${talos} is not supported`,
        `Use a version from v${SUPPORTED_TALOS[0]}.0 to the newest v${SUPPORTED_TALOS.at(-1) ?? ""} release`,
      ),
    ];
  const verdict = supportsKubernetes(talos, kubernetes);
  return verdict.ok
    ? []
    : [unsupported("spec.kubeVersion", verdict.reason, "Choose a Kubernetes version that this Talos release supports")];
}

function configProblems(
  machines: readonly DeclaredMachine[],
  controlPlane: TalosControlPlaneSpec,
  clusterName: string,
  { installerRegistries }: SpecOptions,
): readonly Finding[] {
  // Machines that share all settings give the same answer: one rendering for each distinct set.
  const checked = new Map<string, ConfigCheck>();
  return machines.flatMap(({ role, version, machineSpec, field, address: given }): readonly Finding[] => {
    const key = JSON.stringify([role, version, machineSpec]);
    // A reference gives its address later; any will do to see whether a configuration can be made.
    const address = given === "" ? "192.0.2.1" : given;
    const endpoint = controlPlane.endpoint ?? `https://${address.includes(":") ? `[${address}]` : address}:6443`;
    const shared = { role, clusterName, endpoint, controlPlane, machineSpec, version };
    const check =
      checked.get(key) ??
      checkConfig({
        ...shared,
        readBy: undefined,
        platform: "metal",
        installDisk: wantedDisk(machineSpec) ?? "/dev/sda",
        addresses: [address],
      });
    checked.set(key, check);
    if (check.kind === "trouble")
      return [
        {
          field,
          message: `no machine config can be made: ${check.words}`,
          remedy: "Correct it in configPatches, additionalConfig, registries, cni or clusterDomain",
          reason: "InvalidConfig",
        },
      ];
    const image = check.installImage === undefined ? undefined : imageProblem(check.installImage, installerRegistries);
    if (image !== undefined)
      return [{ field, message: `the installer in its machine config: ${image[0]}`, remedy: image[1], reason: "InvalidConfig" }];
    // A patch may have moved the networks to where the machines are.
    return clusterNetworks({ podCIDR: check.podSubnets, serviceCIDR: check.serviceSubnets })
      .filter((network) => holdsAddress(network, address))
      .map(({ text, use }) => ({
        field: `${field}.address`,
        message: `${address} lies in ${text}, the network of ${use} in the machine's config: etcd would wait for an address outside it for ever`,
        remedy: "Move the machine, or change the patch that sets this network",
        reason: "AddressInClusterRange",
      }));
  });
}

function isTooDeep(root: unknown): boolean {
  let level: readonly unknown[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return false;
}
