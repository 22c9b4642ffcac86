import type { ConfigDocument } from "../../document/load.ts";
import type { ConfigMap } from "../../document/value.ts";
import { mapAt } from "../access.ts";
import type { RuntimeMode } from "../rule-set.ts";

/**
 * What Talos takes and the user would rue:
 *
 * - `ADDRESS_IN_CLUSTER_SUBNET`: an address of the machine lies where pods or services get theirs; traffic to it ends on the machine itself
 * - `CLUSTER_SUBNETS_OVERLAP`: pods and services share addresses
 * - `CLUSTER_SUBNET_INVALID`: something that is no network stands among the subnets; the API server does not start
 * - `SERVICE_SUBNET_TOO_LARGE`: a network that the API server refuses, so that it does not start
 * - `ENDPOINT_NOT_HTTPS`, `ENDPOINT_WITHOUT_PORT`: nothing answers there; a port that is left out is 443
 * - `ENDPOINT_LOCAL`: every machine would look for the cluster on itself
 * - `INSTALL_DISK_ABSENT`: the machine runs from memory and forgets the cluster when it restarts
 * - `TALOS_API_BLOCKED`: the firewall lets nobody in to change the config again
 */
export type HazardCode =
  | "ADDRESS_IN_CLUSTER_SUBNET"
  | "CLUSTER_SUBNETS_OVERLAP"
  | "CLUSTER_SUBNET_INVALID"
  | "SERVICE_SUBNET_TOO_LARGE"
  | "ENDPOINT_NOT_HTTPS"
  | "ENDPOINT_WITHOUT_PORT"
  | "ENDPOINT_LOCAL"
  | "INSTALL_DISK_ABSENT"
  | "TALOS_API_BLOCKED";

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
