import type { ClusterGroup, ClusterModel } from "./cluster-model.ts";

/** Name of the group of control planes, in the names of their machines. */
export const CONTROL_PLANE_GROUP = "cp";

/** Longest DNS label; the name of a machine is its host name and the name of its node. */
export const MAX_LABEL_LENGTH = 63;

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** True for a DNS label: lower-case letters, digits and dashes, at most 63 of them. */
export function isDnsLabel(text: string): boolean {
  return text.length <= MAX_LABEL_LENGTH && LABEL.test(text);
}

/**
 * Name of the machine with an index, from 0, in a group: `<cluster>-<group>-<index>`, with `cp` for control planes.
 *
 * Two groups of a cluster never meet in one name: a group's name is unique, and the index is what follows the last dash.
 */
export function clusterMachineName(model: Pick<ClusterModel, "name">, group: Pick<ClusterGroup, "name">, index: number): string {
  return `${model.name}-${group.name}-${index}`;
}

/** The index in the name of a machine of the group, or `undefined` for another name. */
export function clusterMachineIndex(
  model: Pick<ClusterModel, "name">,
  group: Pick<ClusterGroup, "name">,
  machine: string,
): number | undefined {
  const prefix = `${model.name}-${group.name}-`;
  const digits = machine.startsWith(prefix) ? machine.slice(prefix.length) : "";
  return /^(0|[1-9]\d{0,8})$/.test(digits) ? Number(digits) : undefined;
}
