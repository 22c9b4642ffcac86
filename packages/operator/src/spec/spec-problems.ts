import { quote, validateControlPlaneSpec, validateWorkerSpec } from "@talos-operator/api";
import type { Finding, MachineAddress, TalosControlPlane, TalosControlPlaneSpec, TalosWorker, TalosWorkerSpec } from "@talos-operator/api";
import { kubernetesRange, supportsKubernetes, tryParseVersion } from "@talos-operator/talos";
import { metaProblems } from "../config/meta-network.ts";
import { isSupportedTalos, SUPPORTED_TALOS } from "../config/supported-versions.ts";
import type { ResolvedConfig } from "../references/config-references.ts";
import { baseProblems, isUnread } from "./base-problems.ts";
import { configProblems } from "./config-problems.ts";
import { isObjectName, machinesOf } from "./declared.ts";
import { imageProblems } from "./image-problems.ts";
import { lastAnswerOr } from "./last-answers.ts";
import type { SpecOptions } from "./spec-options.ts";
import { isTooDeep, TOO_DEEP } from "./too-deep.ts";
import type { DeclaredMachine } from "../model/machine.ts";

/** Names of Secrets and machines are made from a pool's name: an IPv6 address behind it must still fit into 253 characters. */
const MAX_NAME = 200;

/**
 * What is wrong with a control plane, found without asking anyone; every finding names field and remedy.
 *
 * @param contract that its configurations are written for. Default: what its status tells, for who has no record at hand
 */
export function controlPlaneProblems(
  controlPlane: TalosControlPlane,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config?: ResolvedConfig,
  contract = controlPlane.status?.configContract,
): readonly Finding[] {
  return lastAnswerOr(controlPlane, { others, options, config, contract }, () =>
    problemsOfControlPlane(controlPlane, others, options, config, contract),
  );
}

function problemsOfControlPlane(
  controlPlane: TalosControlPlane,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config: ResolvedConfig | undefined,
  contract: string | undefined,
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
  const machines = machinesOf(controlPlane, { config: () => config });
  return configProblems(machines, spec, metadata.name, options, contract, spec.metalSpec?.machineSpec);
}

/** What is wrong with a worker pool, given its control plane. */
export function workerProblems(
  worker: TalosWorker,
  controlPlane: TalosControlPlane | undefined,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config?: ResolvedConfig,
  contract = worker.status?.configContract,
): readonly Finding[] {
  return lastAnswerOr(worker, { others, options, config, controlPlane, contract }, () =>
    problemsOfWorker(worker, controlPlane, others, options, config, contract),
  );
}

function problemsOfWorker(
  worker: TalosWorker,
  controlPlane: TalosControlPlane | undefined,
  others: readonly MachineAddress[],
  options: SpecOptions,
  config: ResolvedConfig | undefined,
  contract: string | undefined,
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
  if (problems.length > 0 || controlPlane?.spec === undefined || isUnread(spec, config)) return problems;
  const machines = machinesOf(worker, { config: () => config });
  return configProblems(machines, controlPlane.spec, controlPlane.metadata.name, options, contract, spec.metalSpec?.machineSpec);
}

/** What is wrong with a TalosMachine that a person made, given its cluster. */
export function handMadeProblems(
  machine: DeclaredMachine,
  { spec, metadata }: TalosControlPlane,
  options: SpecOptions,
  contract?: string,
): readonly Finding[] {
  if (spec === undefined) return [];
  const field = `TalosMachine/${machine.name} spec.machineSpec`;
  if (isTooDeep(machine.machineSpec)) return [{ ...TOO_DEEP, field }];
  const versions = versionProblems(machine.version, spec.kubeVersion, `TalosMachine/${machine.name} `);
  const meta = metaProblems(machine.machineSpec.meta, `${field}.meta`, [machine.address]);
  if (meta.length > 0) return meta;
  return versions.length > 0 ? versions : configProblems([{ ...machine, field }], spec, metadata.name, options, contract);
}

/** Findings of a worker that concern the whole cluster while it is made: an address that cannot be, or is someone else's. */
export function concernsCluster(finding: Finding): boolean {
  return finding.reason === "DuplicateAddress" || finding.reason === "AddressInClusterRange" || finding.reason === "InvalidAddress";
}

function nameProblems(name: string): readonly Finding[] {
  if (name.length <= MAX_NAME) return [];
  const message = `its ${name.length} characters leave no room for the names of Secrets and machines that are made from it`;
  return [{ field: "metadata.name", message, remedy: `Choose a name of at most ${MAX_NAME} characters`, reason: "InvalidConfig" }];
}

function poolMetaProblems({ metalSpec }: TalosControlPlaneSpec | TalosWorkerSpec): readonly Finding[] {
  const addresses = (metalSpec?.machines ?? []).flatMap(({ address }) => address ?? []);
  return metaProblems(metalSpec?.machineSpec?.meta, "spec.metalSpec.machineSpec.meta", addresses);
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
  if (verdict.ok) return [];
  const { oldest = "", newest = "" } = kubernetesRange(talos) ?? {};
  return [unsupported("spec.kubeVersion", verdict.reason, `Choose a Kubernetes version from ${oldest} to ${newest}`)];
}
