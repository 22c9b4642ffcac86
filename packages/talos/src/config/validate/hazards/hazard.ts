import type { ConfigDocument } from "../../document/load.ts";
import type { ConfigMap } from "../../document/value.ts";
import { mapAt } from "../access.ts";
import type { RuntimeMode } from "../rule-set.ts";

/** All codes of hazards. Each has an entry in `docs/reference/config-hazards.md`; codes are never re-used. */
export const hazardCodes = [
  "ADDRESS_IN_CLUSTER_SUBNET",
  "CLUSTER_SUBNETS_OVERLAP",
  "CLUSTER_SUBNET_INVALID",
  "SERVICE_SUBNET_TOO_LARGE",
  "ENDPOINT_NOT_HTTPS",
  "ENDPOINT_WITHOUT_PORT",
  "ENDPOINT_LOCAL",
  "INSTALL_DISK_ABSENT",
  "TALOS_API_BLOCKED",
] as const;

/** What Talos takes and the user would rue. */
export type HazardCode = (typeof hazardCodes)[number];

/** A finding of this library, which no node makes: a config with hazards is still taken. */
export interface Hazard {
  readonly code: HazardCode;
  /** The kind of the document, with its name after a slash; `v1alpha1` for the machine config itself. */
  readonly document: string;
  /** `machine.network.interfaces[0].addresses[1]`; empty for a document as a whole. */
  readonly path: string;
  /** What would happen, and what to do. Holds no secret. */
  readonly message: string;
}

/** A config as the checks for hazards see it. */
export interface HazardInput {
  readonly mode: RuntimeMode;
  /** Where the machine is reached; `undefined` = not known. */
  readonly reachedAt?: string | undefined;
  readonly v1alpha1: ConfigMap | undefined;
  /** All documents but v1alpha1. */
  readonly documents: readonly ConfigDocument[];
}

/** A text of the config with its place. */
export interface Located {
  readonly document: string;
  readonly path: string;
  readonly text: string;
}

/** The first document of a kind. */
export function documentOf({ documents }: HazardInput, kind: string): ConfigMap | undefined {
  return documents.find(({ shape }) => shape.kind === kind)?.members;
}

/** How a document is called in a hazard. */
export function labelOf({ shape, members }: ConfigDocument): string {
  const name = members.get("name");
  return shape.isNamed && typeof name === "string" ? `${shape.kind}/${name}` : shape.kind;
}

/** The section `cluster`. */
export function clusterOf({ v1alpha1 }: HazardInput): ConfigMap | undefined {
  return mapAt(v1alpha1, "cluster");
}
