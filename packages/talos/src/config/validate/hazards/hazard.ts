import type { ConfigDocument } from "../../document/load.ts";
import type { ConfigMap } from "../../document/value.ts";
import { mapAt, textAt } from "../access.ts";
import type { RuntimeMode } from "../rule-set.ts";

/**
 * What holds a configuration back, by code: whether whoever sends it asks a person first. True for what shuts everybody out of a machine, and for what
 * Kubernetes refuses to run with; false for what is odd and may be meant. Each code has an entry in `docs/reference/config-hazards.md`; codes are never re-used.
 */
const holdsBack = {
  ADDRESS_IN_CLUSTER_SUBNET: true,
  CLUSTER_SUBNETS_OVERLAP: true,
  CLUSTER_SUBNET_INVALID: true,
  SERVICE_SUBNET_TOO_LARGE: true,
  ENDPOINT_NOT_HTTPS: true,
  ENDPOINT_WITHOUT_PORT: false,
  // A cluster of one machine may be its own endpoint.
  ENDPOINT_LOCAL: false,
  INSTALL_DISK_ABSENT: false,
  TALOS_API_BLOCKED: true,
  SERVICE_FAMILY_ABSENT: true,
  POD_SECURITY_EXEMPTION_TWICE: true,
  AUTHORIZER_TWICE: true,
  AUDIT_POLICY_INVALID: true,
  SCHEDULER_PROFILE_TWICE: true,
  NODE_LABEL_RESTRICTED: true,
  NODE_TAINT_RESTRICTED: true,
  KUBELET_LABEL_REFUSED: true,
  ADDRESS_REMOVED: true,
  ROUTE_REMOVED: true,
} as const satisfies Record<string, boolean>;

/** What Talos takes and the user would rue. */
export type HazardCode = keyof typeof holdsBack;

/** All codes of hazards, in the order of their page. */
export const hazardCodes = Object.keys(holdsBack) as readonly HazardCode[];

/** What a check for hazards finds. */
export interface HazardFinding {
  readonly code: HazardCode;
  /** The kind of the document, with its name after a slash; `v1alpha1` for the machine config itself. */
  readonly document: string;
  /** `machine.network.interfaces[0].addresses[1]`; empty for a document as a whole. */
  readonly path: string;
  /** What would happen, and what to do. Holds no secret. */
  readonly message: string;
}

/** A finding of this library, which no node makes: a config with hazards is still taken. */
export interface Hazard extends HazardFinding {
  /** A config with it is sent to no machine before a person has accepted the hazard. */
  readonly holdsBack: boolean;
}

/** The finding, with what its code means for whoever sends the config. */
export function hazardOf(finding: HazardFinding): Hazard {
  return { ...finding, holdsBack: holdsBack[finding.code] };
}

/** The documents of a config. */
export interface ConfigParts {
  readonly v1alpha1: ConfigMap | undefined;
  /** All documents but v1alpha1. */
  readonly documents: readonly ConfigDocument[];
}

/** A config as the checks for hazards see it. */
export interface HazardInput extends ConfigParts {
  readonly mode: RuntimeMode;
  /** Where the machine is reached; `undefined` = not known. */
  readonly reachedAt?: string | undefined;
  /** Every address that the machine has by itself, without prefix lengths; `undefined` = not known. */
  readonly addresses?: readonly string[] | undefined;
  /** The kubelet of this Talos registers its Node with the taints of the config. */
  readonly registersWithTaints: boolean;
}

/** A text of the config with its place. */
export interface Located {
  readonly document: string;
  readonly path: string;
  readonly text: string;
}

/** The first document of a kind. */
export function documentOf({ documents }: ConfigParts, kind: string): ConfigMap | undefined {
  return documents.find(({ shape }) => shape.kind === kind)?.members;
}

/** How a document is called in a hazard. */
export function labelOf({ shape, members }: ConfigDocument): string {
  const name = members.get("name");
  return shape.isNamed && typeof name === "string" ? `${shape.kind}/${name}` : shape.kind;
}

/** True for the config of a control plane. */
export function isControlPlane({ v1alpha1 }: HazardInput): boolean {
  const type = textAt(v1alpha1, "machine", "type");
  return type === "controlplane" || type === "init";
}

/** The section `cluster`. */
export function clusterOf({ v1alpha1 }: HazardInput): ConfigMap | undefined {
  return mapAt(v1alpha1, "cluster");
}
